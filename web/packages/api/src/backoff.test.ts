import { expect, test } from 'vitest';
import { retryDelayMs } from './backoff.ts';

test('doubles from half a second and stops at thirty', () => {
  const delays = [0, 1, 2, 6, 50].map((attempt) => retryDelayMs(attempt, () => 1));
  expect(delays).toEqual([500, 1_000, 2_000, 30_000, 30_000]);
});

test('up to half of the delay is left to chance', () => {
  expect(retryDelayMs(3, () => 0)).toBe(2_000);
  expect(retryDelayMs(3, () => 0.5)).toBe(3_000);
});
