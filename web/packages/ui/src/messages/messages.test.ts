import { expect, test } from 'vitest';
import contract from '../../../../../contracts/openapi.json';
import { untranslated } from '../testing_words.ts';
import { problems } from './af_problems.ts';
import { SHELL_WORDS } from './index.ts';

test('both languages say the same things', () => {
  expect(untranslated(SHELL_WORDS)).toEqual([]);
});

/** Each answer of the contract that is a refusal names its codes: `gate_not_found`: There is … */
function codes(): Set<string> {
  const found = new Set<string>();
  for (const operations of Object.values(contract.paths)) {
    for (const { responses } of Object.values(operations)) {
      for (const [status, { description }] of Object.entries(responses as Responses)) {
        if (Number(status) < 400) continue;
        for (const [, code] of description.matchAll(/(?:^|; )`(\w+)`: /g)) found.add(code!);
      }
    }
  }
  return found;
}

type Responses = Record<string, { description: string }>;

test('whatever the server can refuse, it is told in Afrikaans too', () => {
  const all = [...codes()];
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter((code) => !(code in problems))).toEqual([]);
});
