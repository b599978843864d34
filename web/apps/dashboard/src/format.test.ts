import { expect, test } from 'vitest';
import { countdownText, durationText, momentText, numberText, timeText } from './format.ts';
import { LANGUAGES } from './messages/index.ts';

const { en, af } = LANGUAGES;
const ZONE = 'Africa/Johannesburg';

test('tells how long in the largest unit', () => {
  const told = [8, 59.6, 250, 7_300, 200_000].map((seconds) => durationText(en, seconds));
  expect(told).toEqual(['8 s', '1 min', '4 min', '2 h', '2 days']);
  expect(durationText(af, 200_000)).toBe('2 dae');
});

test('counts down to nothing and stops there', () => {
  expect([300, 61.2, 0.4, -5].map(countdownText)).toEqual(['5:00', '1:02', '0:01', '0:00']);
});

test('moments are on the venue’s clock', () => {
  expect(timeText(en, Date.parse('2030-01-01T16:05:00Z'), ZONE)).toBe('18:05');
  expect(momentText(en, '2030-01-01T16:05:09Z', ZONE)).toContain('18:05:09');
});

test('numbers are written as the language has it', () => {
  expect(numberText(en, 1204)).toMatch(/^1\s204$/);
});
