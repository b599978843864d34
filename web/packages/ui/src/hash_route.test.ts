import { expect, test } from 'vitest';
import { HashRoute } from './hash_route.svelte.ts';

function aWindow(hash: string) {
  const target = new EventTarget();
  const location = { hash } as Location;
  const replaceState = (_: unknown, _title: string, address: string) => {
    location.hash = address;
  };
  return Object.assign(target, { location, history: { replaceState } }) as unknown as EventTarget &
    Pick<Window, 'location' | 'history' | 'addEventListener' | 'removeEventListener'>;
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

test('what of a page is shown is in its address, and is no other page', () => {
  const window = aWindow('#/audit?action=gate_changed');
  const route = new HashRoute(window);
  expect(route.path).toBe('/audit');
  expect(route.query.get('action')).toBe('gate_changed');

  route.ask({ action: 'a&b', since: '' });
  expect(window.location.hash).toBe('#/audit?action=a%26b');
  expect(new HashRoute(window).query.get('action')).toBe('a&b');
  route.ask({ action: '' });
  expect(window.location.hash).toBe('#/audit');
  expect(route.path).toBe('/audit');
});
