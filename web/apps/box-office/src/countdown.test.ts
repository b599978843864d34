import { expect, test } from 'vitest';
import { clockText, secondsUntil } from './countdown.ts';

test('from five minutes to nothing', () => {
  expect(clockText(300)).toBe('5:00');
  expect(clockText(61)).toBe('1:01');
  expect(clockText(30)).toBe('0:30');
  expect(clockText(0)).toBe('0:00');
});

test('a second is shown until it is over, and there is no less than none', () => {
  expect(secondsUntil(300_000, 0)).toBe(300);
  expect(secondsUntil(300_000, 1)).toBe(300);
  expect(secondsUntil(300_000, 1_000)).toBe(299);
  expect(secondsUntil(300_000, 299_999)).toBe(1);
  expect(secondsUntil(300_000, 400_000)).toBe(0);
});
