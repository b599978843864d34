import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pace } from './pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the first wish is met at once, a burst after it once more', () => {
  const work = vi.fn();
  const pace = new Pace(work, 250);
  for (let times = 0; times < 100; times += 1) pace.ask();
  expect(work).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(250);
  expect(work).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(10_000);
  expect(work).toHaveBeenCalledTimes(2);
});

test('two hundred messages a second are four pictures a second', () => {
  const work = vi.fn();
  const pace = new Pace(work, 250);
  for (let times = 0; times < 2_000; times += 1) {
    pace.ask();
    vi.advanceTimersByTime(5);
  }
  expect(work).toHaveBeenCalledTimes(41);
});

test('after it was stopped nothing comes', () => {
  const work = vi.fn();
  const pace = new Pace(work, 250);
  pace.ask();
  pace.ask();
  pace.stop();
  vi.advanceTimersByTime(1_000);
  expect(work).toHaveBeenCalledTimes(1);
});
