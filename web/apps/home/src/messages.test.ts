import { untranslated } from '@voelgoed/ui/testing-words';
import { expect, test } from 'vitest';
import { LANGUAGES } from './messages.ts';

test('both languages say the same things, each in its own words', () => {
  expect(untranslated(LANGUAGES)).toEqual([]);
});
