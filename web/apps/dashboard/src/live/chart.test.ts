import { expect, test } from 'vitest';
import { drawnMinutes, linePath, peakOf } from './chart.ts';

const aMinute = (entries: number, exits = 0) => ({ minute: 0, entries, exits });

test('the axis ends at a round number above everything', () => {
  expect(peakOf([])).toBe(10);
  expect(peakOf([aMinute(3), aMinute(12, 47)])).toBe(50);
  expect(peakOf([aMinute(1_201)])).toBe(2_000);
});

test('draws from the left to the right, and more is higher', () => {
  expect(linePath([0, 5, 10], 10, 100, 40)).toBe('M0 40L50 20L100 0');
  expect(linePath([], 10, 100, 40)).toBe('');
});

test('the line ends with the last sixty seconds, not with a minute that has just begun', () => {
  const minutes = [20, 22, 0].map((entries, minute) => ({ minute, entries, exits: 0 }));
  const drawn = drawnMinutes(minutes, { entries: 21, exits: 1 });
  expect(drawn.map(({ entries }) => entries)).toEqual([20, 22, 21]);
  expect(drawnMinutes([], { entries: 0, exits: 0 })).toHaveLength(1);
});
