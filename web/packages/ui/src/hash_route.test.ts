import { expect, test } from 'vitest';
import { HashRoute } from './hash_route.svelte.ts';

function aWindow(hash: string) {
  const target = new EventTarget();
  return Object.assign(target, { location: { hash } as Location }) as EventTarget &
    Pick<Window, 'location' | 'addEventListener' | 'removeEventListener'>;
}

test('without a # it is the first page', () => {
  expect(new HashRoute(aWindow('')).path).toBe('/');
});

test('follows the address until told to stop', () => {
  const window = aWindow('#/events/1');
  const route = new HashRoute(window);
  expect(route.path).toBe('/events/1');

  const stop = route.follow();
  window.location.hash = '#/events/2';
  window.dispatchEvent(new Event('hashchange'));
  expect(route.path).toBe('/events/2');

  stop();
  window.location.hash = '#/events/3';
  window.dispatchEvent(new Event('hashchange'));
  expect(route.path).toBe('/events/2');
});
