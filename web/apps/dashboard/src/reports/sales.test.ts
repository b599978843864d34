import { expect, test } from 'vitest';
import { LANGUAGES } from '../messages/index.ts';
import { dayAt, dayOf, salesRow } from './sales.ts';

test('a calendar day stays that day on the axis', () => {
  expect(dayOf(dayAt('2028-02-29'))).toBe('2028-02-29');
  expect(dayAt('2028-03-01') - dayAt('2028-02-29')).toBe(86_400);
});

test('a line has every count in the order of the columns, then money and percent', () => {
  const sold = {
    issued: 15,
    valid: 9,
    sold: 6,
    complimentary: 2,
    imported: 1,
    refunded: 4,
    voided: 2,
    gross_minor: 0,
    refunded_minor: 0,
    net_minor: 1_250,
    imported_minor: 0,
    capacity: 20,
    percent_sold: 45,
  };
  const row = salesRow(LANGUAGES.en, 'Stalls', sold, 'ZAR');
  expect(row.slice(0, 7)).toEqual(['Stalls', '9', '6', '2', '1', '4', '2']);
  expect(row[7]).toContain('12,50');
  expect(row[8]).toBe('45 %');
});

test('“paid” alone means what was ever paid, as in the report on holds and checkout', () => {
  for (const { reports } of Object.values(LANGUAGES)) {
    expect(reports.sales.paid('61')).toMatch(/not refunded|nie terugbetaal nie/);
  }
});
