import { expect, test } from 'vitest';
import { linkTo, matched, pageOf } from './routing.ts';

test('an address gives a page what stands in the named places', () => {
  expect(matched('/', '/')).toEqual({});
  expect(matched('/events/:id/live', '/events/7/live')).toEqual({ id: '7' });
  expect(matched('/events/:id', '/events/')).toBeUndefined();
  expect(matched('/events/:id', '/events/7/live')).toBeUndefined();
});

test('every page is found where its link leads', () => {
  expect(linkTo('live', '7')).toBe('#/events/7/live');
  expect(pageOf('/events/7/live')).toEqual({ name: 'live', parts: { id: '7' } });
  expect(pageOf('/')).toEqual({ name: 'events', parts: {} });
  expect(pageOf('/nowhere')).toBeUndefined();
});
