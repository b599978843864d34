import { untranslated } from '@voelgoed/ui/testing-words';
import { expect, test } from 'vitest';
import { LANGUAGES } from './index.ts';

/** Rightly the same in both, or nothing in both. */
const SAME = [
  '.age.seconds',
  '.age.minutes',
  '.age.hours',
  '.live.fullness.room',
  '.live.battery',
  '.overlay.zoneFacts',
  '.manifest.kilobytes',
];

test('both languages say the same things, each in its own words', () => {
  expect(untranslated(LANGUAGES, SAME)).toEqual([]);
});
