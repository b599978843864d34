import { expect, test } from 'vitest';
import table from '../../../../../voelgoed/ticketing/forms/ticket_table.py?raw';
import ledger from '../../../../../voelgoed/ticketing/rules/import_ledger.py?raw';
import rules from '../../../../../voelgoed/ticketing/rules/imports.py?raw';
import { LANGUAGES } from '../messages/index.ts';
import { faultText, fieldText } from './fault_text.ts';

const { en, af } = LANGUAGES;
const SOURCES = [rules, ledger, table];

/** What the server can have against a line, where it stands in one piece in its source. */
function messages(): string[] {
  const said = /(?:wrong|_fail|ImportFault)\((?:[\w.]+, )?"\w+", f?"([^"]+)"/g;
  return SOURCES.flatMap((text) => [...text.matchAll(said)].map(([, message]) => message!));
}

test('whatever is wrong with a line is told in Afrikaans too', () => {
  const all = messages().map((message) => message.replace(/\{[^}]*\}/g, '5'));
  expect(all.length).toBeGreaterThan(30);
  const told = ['5; 5']; // begins with what kind of file it is
  const untold = all.filter((message) => faultText('af', message) === message);
  expect(untold.filter((message) => !told.includes(message))).toEqual([]);
});

test('numbers and names in a fault are kept', () => {
  expect(faultText('af', 'seat is on line 7 already')).toContain('reël 7');
  expect(faultText('af', '`colour` is no column; columns are code, type')).toContain('colour');
  expect(faultText('af', 'is a PDF; a spreadsheet saves that')).toContain('is ’n PDF');
  expect(faultText('af', 'never heard of')).toBe('never heard of');
  expect(faultText('en', 'is missing')).toBe('is missing');
});

test('columns are called as in the file, the file and its parts in words', () => {
  expect(fieldText(af.imports, 'price_minor')).toBe('price_minor');
  expect([fieldText(en.imports, 'header'), fieldText(af.imports, 'header')]).toEqual([
    'Names of the columns',
    'Name van die kolomme',
  ]);
});
