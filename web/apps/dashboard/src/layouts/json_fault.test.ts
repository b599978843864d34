import { expect, test } from 'vitest';
import { jsonFault } from './json_fault.ts';

test.each([
  ['{"a": [1, -2.5e3, true, null, "x\\u00e9"], "b": {}}'],
  ['[]'],
  ['  "text" \n'],
  ['[[[[]]], {"a": {"b": []}}]'],
])('%s is JSON', (text) => {
  expect(jsonFault(text)).toBeUndefined();
  expect(() => JSON.parse(text)).not.toThrow();
});

test.each([
  ['', 1, 1],
  ['{\n  "zones": [\n    {"a": 1,}\n  ]\n}', 3, 13],
  ['{"a" 1}', 1, 6],
  ['{"a": 1} x', 1, 10],
  ['[1, 2', 1, 6],
  ['{"a": "never ends\n}', 1, 18],
  ['{"a": "bad \\x escape"}', 1, 12],
  ['[01]', 1, 3],
  ["{'a': 1}", 1, 2],
  ['{"a": undefined}', 1, 7],
  ['[1 2]', 1, 4],
  ['<html>', 1, 1],
])('%s is none, from line %i, column %i', (text, line, column) => {
  expect(jsonFault(text)).toMatchObject({ line, column });
  expect(() => JSON.parse(text)).toThrow();
});

test('what stands there is shown, but never a whole file', () => {
  expect(jsonFault(`[1,\n  zones: ${'x'.repeat(1_000)}`)).toEqual({
    line: 2,
    column: 3,
    excerpt: `zones: ${'x'.repeat(53)}`,
  });
});

test('something deep or long is looked at without end of memory', () => {
  expect(jsonFault('['.repeat(200_000))).toMatchObject({ column: 200_001 });
  expect(jsonFault(`["${'x'.repeat(5_000_000)}"]`)).toBeUndefined();
});
