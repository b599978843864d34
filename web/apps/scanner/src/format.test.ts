import { expect, test } from 'vitest';
import { ageText, bytesText, durationText, secondsText, timeText } from './format.ts';
import { LANGUAGES } from './messages/index.ts';

const { en, af } = LANGUAGES;
const at = (hour: number, day = 16) => new Date(2026, 10, day, hour, 5).getTime() * 1_000;

test.each([
  [900, '1 s'],
  [59_000, '59 s'],
  [60_000, '1 min'],
  [3_599_000, '59 min'],
  [599_990, '10 min'],
  [7_200_000, '2 h'],
  [86_400_000, '1 day'],
  [172_800_000, '2 days'],
  [-15_000, '15 s'],
])('%i ms are %s', (ms, text) => {
  expect(durationText(en, ms)).toBe(text);
});

test('an age of a moment is not counted', () => {
  expect(ageText(en, 2_000)).toBe('just now');
  expect(ageText(af, 120_000)).toBe('2 min gelede');
});

test('another day is named', () => {
  expect(timeText(en, at(9), at(18))).toBe('09:05');
  expect(timeText(en, at(9, 15), at(18))).toMatch(/15.*09:05/);
});

test('numbers are written as each language does', () => {
  expect(secondsText(af, 1_500)).toBe('1,5');
  expect(bytesText(en, 512_000)).toMatch(/^512\skB$/);
  expect(bytesText(en, 2_340_000)).toMatch(/^2[.,]3\sMB$/);
});
