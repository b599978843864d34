import { expect, test } from 'vitest';
import { isChangeable, stepsOf } from './lifecycle.ts';

test('a draft can be published, cancelled or deleted, and what is archived stays', () => {
  expect(stepsOf('draft')).toEqual(['published', 'cancelled', 'delete']);
  expect(stepsOf('published')).toEqual(['live', 'cancelled']);
  expect(stepsOf('live')).toEqual(['ended', 'cancelled']);
  expect(stepsOf('ended')).toEqual(['archived']);
  expect([stepsOf('archived'), stepsOf('cancelled')]).toEqual([[], []]);
});

test('what is over can no longer be changed', () => {
  expect(['draft', 'published', 'live'].every((each) => isChangeable(each as 'draft'))).toBe(true);
  expect(isChangeable('ended')).toBe(false);
  expect(isChangeable(undefined)).toBe(false);
});
