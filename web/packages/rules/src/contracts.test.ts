import { expect, test } from 'vitest';
import { contracts } from './testing.ts';

const tests = import.meta.glob<string>('./*.test.ts', {
  query: '?raw',
  import: 'default',
  eager: true,
});
/** What the server alone decides: where a device was and when, which no device can know of itself. */
const SERVER_ONLY = new Set(['provenance']);
const asked = new Set(
  Object.values(tests).flatMap((source) =>
    Array.from(
      source.matchAll(/casesOf<[^(]+>\(\s*'(\w+)',\s*'(\w+)',?\s*\)/g),
      ([, file, list]) => `${file}.${list}`,
    ),
  ),
);

test('every list of cases in every contract is read by a test', () => {
  const lists = [...contracts]
    .filter(([file]) => !SERVER_ONLY.has(file))
    .flatMap(([file, contract]) =>
      Object.keys(contract)
        .filter((part) => Array.isArray(contract[part]))
        .map((list) => `${file}.${list}`),
    );
  expect([...asked].sort()).toEqual(lists.sort());
});

test('every contract has a list of cases, so that none is passed over', () => {
  for (const [file, contract] of contracts) {
    expect(Object.values(contract).some(Array.isArray), file).toBe(true);
  }
  expect(contracts.size).toBeGreaterThanOrEqual(6);
});
