import { expect, test } from 'vitest';
import { isLanguage, offeredLanguage } from './languages.ts';

test('the language that somebody reads best is offered', () => {
  expect(offeredLanguage(['af'])).toBe('af');
  expect(offeredLanguage(['nl-NL', 'en-GB', 'af'])).toBe('en');
  expect(offeredLanguage([])).toBe('en');
});

test('what is not a language of ours is none', () => {
  expect([undefined, '', 'nl', 'toString'].some(isLanguage)).toBe(false);
});
