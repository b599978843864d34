import { expect, test } from 'vitest';
import { ServerClock } from './server_clock.ts';

test('a computer whose clock is wrong shows the server’s time', () => {
  const clock = new ServerClock(() => Date.parse('2030-01-01T10:00:00Z'));
  clock.hear(new Response('', { headers: { Date: 'Tue, 01 Jan 2030 10:07:00 GMT' } }));
  expect(new Date(clock.now()).toISOString()).toBe('2030-01-01T10:07:00.500Z');
});

test('an answer that does not tell the time changes nothing', () => {
  const clock = new ServerClock(() => 1_000);
  clock.hear(new Response(''));
  expect(clock.now()).toBe(1_000);
});
