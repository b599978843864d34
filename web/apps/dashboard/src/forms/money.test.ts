import { expect, test } from 'vitest';
import { amountText, minorUnits, moneyText } from './money.ts';

test('an amount is read with a point or a comma, and with blanks between thousands', () => {
  for (const typed of ['120', '120.0', '120.00', '120,00', ' 120,0 ']) {
    expect(minorUnits(typed, 'ZAR')).toBe(12_000);
  }
  expect(minorUnits('1 200,50', 'ZAR')).toBe(120_050);
  expect(minorUnits('1\u00a0200,50', 'ZAR')).toBe(120_050);
  expect(minorUnits('0', 'ZAR')).toBe(0);
});

test('every cent is exact', () => {
  for (let minor = 0; minor < 1_000; minor += 1) {
    expect(minorUnits(amountText(minor, 'ZAR'), 'ZAR')).toBe(minor);
  }
  expect(minorUnits('9999999999999.99', 'ZAR')).toBe(999_999_999_999_999);
});

test('a currency has its own number of decimals', () => {
  expect(minorUnits('500', 'JPY')).toBe(500);
  expect(minorUnits('500.5', 'JPY')).toBeUndefined();
  expect(minorUnits('1.234', 'KWD')).toBe(1_234);
  expect([amountText(500, 'JPY'), amountText(5, 'ZAR'), amountText(1_234, 'KWD')]).toEqual([
    '500',
    '0.05',
    '1.234',
  ]);
});

test('what is not clearly an amount is none', () => {
  for (const typed of ['', '-5', 'R 120', '1.200,00', '120.005', '.50', '5.', '1e3', '٣']) {
    expect(minorUnits(typed, 'ZAR')).toBeUndefined();
  }
  expect(minorUnits('99999999999999999', 'ZAR')).toBeUndefined();
});

test('it is read as people write it', () => {
  expect(moneyText(12_050, 'ZAR', 'en-ZA')).toMatch(/R\s?120.50/);
});
