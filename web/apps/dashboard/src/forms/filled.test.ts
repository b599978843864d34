import type { ApiError } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { Filled, only } from './filled.ts';

function faultsOf(filled: Filled): unknown {
  try {
    filled.refuseFaults();
    return [];
  } catch (thrown) {
    return (thrown as ApiError).details.faults;
  }
}

test('what is typed becomes what is sent', () => {
  const filled = new Filled();
  expect(filled.text('name', '  Die Skuur ')).toBe('Die Skuur');
  expect(filled.whole('capacity', ' 120 ')).toBe(120);
  expect(filled.wholeOrNone('quota', '')).toBeNull();
  expect(filled.moment('starts_at', '2026-12-04T19:30', 'Africa/Johannesburg')).toBe(
    '2026-12-04T17:30:00Z',
  );
  expect(filled.momentOrNone('sale_end', ' ', 'UTC')).toBeNull();
  expect(filled.amount('prices', '120,50', 'ZAR')).toBe(12_050);
  expect(faultsOf(filled)).toEqual([]);
});

test('all faults are told together, each once', () => {
  const filled = new Filled();
  filled.text('name', ' ');
  filled.whole('capacity', '');
  filled.whole('quota', '1.5');
  filled.moment('starts_at', '', 'UTC');
  filled.moment('ends_at', 'soon', 'UTC');
  filled.moment('sale_start', '2026-03-29T02:30', 'Europe/Berlin');
  filled.amount('prices', 'much', 'ZAR');
  expect(faultsOf(filled)).toEqual([
    { path: 'name', message: 'is missing' },
    { path: 'capacity', message: 'is missing' },
    { path: 'quota', message: 'is no whole number' },
    { path: 'starts_at', message: 'is missing' },
    { path: 'ends_at', message: 'is no moment' },
    { path: 'sale_start', message: 'does not exist' },
    { path: 'prices', message: 'is no amount' },
  ]);
});

test('only what was changed is sent', () => {
  expect(only({ name: 'A', capacity: 5, days: null }, new Set(['name', 'days']))).toEqual({
    name: 'A',
    days: null,
  });
});
