import { expect, test } from 'vitest';
import { formOf, readUtf8 } from './source.ts';

test.each([
  ['house.json', '', 'json'],
  ['HOUSE.CSV', '', 'csv'],
  ['house.layout', '{', 'text'],
  ['house.txt', '', 'text'],
  ['house', ' {"zones": []}', 'json'],
  ['', '[1]', 'json'],
  ['', 'kind,zone\n', 'csv'],
  ['', '"kind";"zone"', 'csv'],
  ['', 'sep=;\nkind', 'csv'],
  ['', 'zone hall reserved_seating Hall', 'text'],
  ['csv', 'zone hall', 'text'],
])('%s that begins with %s is %s', (name, text, form) => {
  expect(formOf(name, text)).toBe(form);
});

test('a file in another encoding is not taken for text', async () => {
  expect(await readUtf8(new Blob([new Uint8Array([0x52, 0xe9])]))).toBeUndefined();
  expect(await readUtf8(new Blob(['\ufeffRé']))).toBe('Ré');
});
