import { untranslated } from '@voelgoed/ui/testing-words';
import { expect, test } from 'vitest';
import { LANGUAGES } from './index.ts';

/** Rightly the same in both. */
const SAME = [
  '.status.battery',
  '.verdict.stop',
  '.settings.pin',
  '.settings.volume',
  '.settings.waitSeconds',
  '.age.seconds',
  '.age.minutes',
  '.age.hours',
];

test('both languages say the same things, each in its own words', () => {
  expect(untranslated(LANGUAGES, SAME)).toEqual([]);
});

test('a number is in the text that was given it', () => {
  for (const { queue } of Object.values(LANGUAGES)) {
    expect(queue.result(12, 7)).toMatch(/12.*7/);
    expect(queue.left(1)).not.toBe(queue.left(2).replace('2', '1'));
  }
});
