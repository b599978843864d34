import type { Event } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { LANGUAGES } from './messages/index.ts';
import { saleWindow } from './sale_window.ts';

const START = '2030-01-01T08:00:00Z';
const END = '2030-02-01T08:00:00Z';

function told(now: string, start: string | null = START, end: string | null = END): string {
  const event = { sale_start: start, sale_end: end } as Event;
  return saleWindow(event, 'UTC', new Date(now), LANGUAGES.en);
}

test('before, during and after the sale', () => {
  expect(told('2029-12-31T00:00:00Z')).toMatch(/^Sale starts .*01 Jan 2030/);
  expect(told(START)).toMatch(/^On sale until .*01 Feb 2030/);
  expect(told(END)).toMatch(/^Sale ended/);
});

test('without dates it is simply on sale', () => {
  expect(told(START, null, null)).toBe('On sale');
});
