import { expect, test } from 'vitest';
import { MINUTE_MS, type Minute } from './minutes.ts';
import { forecast, pressureOf, pressures } from './pressure.ts';

const NOW = 10_000 * MINUTE_MS;

function series(...entries: number[]): Minute[] {
  return entries.map((count, minute) => ({ minute, entries: count, exits: 0 }));
}

test.each([
  // perMinute, best, to come, at all gates together
  [0, 0, 1_000, 0, 'quiet'],
  [4, 4, 1_000, 4, 'quiet'], // a gate that has shown little can do ten
  [9, 20, 1_000, 9, 'quiet'],
  [10, 20, 1_000, 10, 'busy'],
  [16, 20, 1_000, 16, 'busy'],
  [17, 20, 1_000, 17, 'pressed'],
  [40, 20, 1_000, 40, 'pressed'], // better than ever, and as much as can be
  [17, 20, 84, 17, 'busy'], // over in less than five minutes
  [17, 20, 85, 17, 'pressed'],
  [17, 20, 85, 170, 'busy'], // the other gates take most of them
  [17, 20, 0, 17, 'busy'], // everybody is in: they leave, or came again
] as const)('%i a minute, best %i, %i to come: %s', (perMinute, best, toCome, all, level) => {
  expect(pressureOf({ perMinute, turnedAway: 0, best }, toCome, all)).toBe(level);
});

test('a gate is judged beside all the others', () => {
  const found = pressures(
    new Map([
      ['north', { perMinute: 20, turnedAway: 0, best: 20 }],
      ['south', { perMinute: 2, turnedAway: 0, best: 30 }],
    ]),
    500,
  );
  expect([...found.values()].map(({ level }) => level)).toEqual(['pressed', 'quiet']);
});

test('at this pace everybody is in at a moment', () => {
  const minutes = series(0, 99, 20, 20, 20, 20, 20, 3);
  expect(forecast(100, minutes, NOW)).toEqual({ kind: 'at', ms: NOW + 5 * MINUTE_MS });
});

test('minutes before the doors opened do not slow the pace down', () => {
  expect(forecast(40, series(0, 0, 0, 20, 20, 1), NOW)).toEqual({
    kind: 'at',
    ms: NOW + 2 * MINUTE_MS,
  });
});

test('nothing is foretold from nothing', () => {
  expect(forecast(0, series(5, 5), NOW)).toEqual({ kind: 'all_in' });
  expect(forecast(10, series(0, 0, 0), NOW)).toEqual({ kind: 'never' });
  expect(forecast(10, [], NOW)).toEqual({ kind: 'never' });
  expect(forecast(50_000, series(1, 1, 1, 1, 1, 0), NOW)).toEqual({ kind: 'never' });
});
