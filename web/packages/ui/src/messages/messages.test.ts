import { expect, test } from 'vitest';
import contract from '../../../../../contracts/openapi.json';
import { untranslated } from '../testing_words.ts';
import { problems } from './af_problems.ts';
import { problems as english } from './en_problems.ts';
import { SHELL_WORDS } from './index.ts';

test('both languages say the same things', () => {
  expect(untranslated(SHELL_WORDS)).toEqual([]);
});

/** Each answer of the contract that is a refusal names its codes: `gate_not_found`: There is … */
function sentences(): Map<string, string> {
  const found = new Map<string, string>();
  for (const operations of Object.values(contract.paths)) {
    for (const { responses } of Object.values(operations)) {
      for (const [status, { description }] of Object.entries(responses as Responses)) {
        if (Number(status) < 400) continue;
        for (const [, code, sentence] of description.matchAll(
          /(?:^|; )`(\w+)`: (.*?)(?=; `\w+`: |$)/g,
        )) {
          found.set(code!, sentence!);
        }
      }
    }
  }
  return found;
}

type Responses = Record<string, { description: string }>;

test('whatever the server can refuse, it is told in Afrikaans too', () => {
  const all = [...sentences().keys()];
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter((code) => !(code in problems))).toEqual([]);
});

/** Names of fields, and what only those know who write programs. */
const FOR_PROGRAMS = /`|[a-z]_[a-z]|JSON|\bbody\b|Idempotency|Content-/;

test('no sentence that was made for programs reaches a person', () => {
  const made = [...sentences()].filter(([, sentence]) => FOR_PROGRAMS.test(sentence));
  expect(made.length).toBeGreaterThan(10);
  const said = made.map(([code, message]) => {
    const say = english[code];
    return (typeof say === 'function' ? say({ code, message }) : say) ?? message;
  });
  expect(said.filter((sentence) => FOR_PROGRAMS.test(sentence))).toEqual([]);
});
