import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Cart } from './cart.svelte.ts';
import { EVENT } from './testing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function aHold(seconds: number, more: object = {}) {
  return {
    hold_id: 'h',
    booking_id: 'b',
    event_id: EVENT,
    seat_label: 'A-1',
    places: 1,
    expires_in_seconds: seconds,
    can_extend: true,
    ...more,
  };
}

function aCart(answers: Answers): Cart {
  return new Cart(anApi(answers), EVENT, () => Date.now());
}

test('what is held here is counted down from what the server says', async () => {
  const holds = [aHold(300), aHold(9, { event_id: 'another' })];
  const cart = aCart({ 'GET /api/holds': () => json(200, { data: holds }) });
  await cart.load();
  expect(cart.holds).toHaveLength(1);
  expect(cart.secondsLeft).toBe(300);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(cart.secondsLeft).toBe(240);
  expect(cart.isEndingSoon).toBe(false);
  await vi.advanceTimersByTimeAsync(210_000);
  expect(cart.isEndingSoon).toBe(true);
  cart.stop();
});

test('the first of several to end is what counts', async () => {
  const holds = [aHold(300), aHold(120, { hold_id: 'i', booking_id: 'c' })];
  const cart = aCart({ 'GET /api/holds': () => json(200, { data: holds }) });
  await cart.load();
  expect(cart.secondsLeft).toBe(120);
  cart.stop();
});

test('when the time is up nothing is held any more, and that is said', async () => {
  let held = [aHold(2)];
  const cart = aCart({ 'GET /api/holds': () => json(200, { data: held }) });
  await cart.load();
  held = [];
  await vi.advanceTimersByTimeAsync(2_500);
  expect(cart.holds).toEqual([]);
  expect(cart.hasExpired).toBe(true);
});

test('more time that was got in another tab is found before anything is said', async () => {
  let seconds = 2;
  const cart = aCart({ 'GET /api/holds': () => json(200, { data: [aHold(seconds)] }) });
  await cart.load();
  seconds = 300;
  await vi.advanceTimersByTimeAsync(2_500);
  expect(cart.hasExpired).toBe(false);
  expect(cart.secondsLeft).toBeGreaterThan(290);
  cart.stop();
});

test('of two bookings the older ends and the other goes on', async () => {
  const later = { hold_id: 'i', booking_id: 'c' };
  let held = [aHold(2), aHold(200, later)];
  const cart = aCart({ 'GET /api/holds': () => json(200, { data: held }) });
  await cart.load();
  held = [aHold(0), aHold(198, later)];
  await vi.advanceTimersByTimeAsync(2_500);
  expect(cart.holds.map(({ hold_id: id }) => id)).toEqual(['i']);
  expect(cart.hasExpired).toBe(true);
  cart.stop();
});

test('a hold that is refused holds nothing and says why', async () => {
  const cart = aCart({
    'GET /api/holds': () => json(200, { data: [] }),
    [`POST /api/events/${EVENT}/holds`]: () => refusal(409, 'seat_no_longer_available'),
  });
  expect(await cart.holdSeats(['A-1'], [])).toBe(false);
  expect(cart.problem?.code).toBe('seat_no_longer_available');
  expect(cart.isBusy).toBe(false);
});

test('more time is asked for once for what was held together', async () => {
  let seconds = 100;
  const extended: string[] = [];
  const extend = (id: string) => () => {
    extended.push(id);
    seconds = 300;
    return json(200, { data: {} });
  };
  const cart = aCart({
    'GET /api/holds': () =>
      json(200, {
        data: ['h', 'i'].map((hold_id) => aHold(seconds, { hold_id, can_extend: seconds === 100 })),
      }),
    'POST /api/holds/h/extension': extend('h'),
    'POST /api/holds/i/extension': extend('i'),
  });
  await cart.load();
  expect(cart.canExtend).toBe(true);
  await cart.extend();
  expect(extended).toHaveLength(1);
  expect(cart.secondsLeft).toBe(300);
  expect(cart.canExtend).toBe(false);
  cart.stop();
});

test('more time is offered when there is little left, not before', async () => {
  const cart = aCart({ 'GET /api/holds': () => json(200, { data: [aHold(300)] }) });
  await cart.load();
  expect(cart.canExtend).toBe(false);
  await vi.advanceTimersByTimeAsync(179_000);
  expect(cart.canExtend).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(cart.canExtend).toBe(true);
  cart.stop();
});

test('who held too much is told how long to wait, until the time is over', async () => {
  const limited = { error: 'rate_limited', message: 'At most 10.' };
  const cart = aCart({
    'GET /api/holds': () => json(200, { data: [] }),
    [`POST /api/events/${EVENT}/holds`]: () =>
      json(429, { ...limited, details: { retry_after_seconds: 90 } }),
  });
  await cart.holdSeats(['A-1'], []);
  expect(cart.secondsToWait).toBe(90);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(cart.secondsToWait).toBe(60);
  expect(cart.problem?.code).toBe('rate_limited');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(cart.secondsToWait).toBe(0);
  expect(cart.problem).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test('whatever else is refused after that is not counted down', async () => {
  let code = 'rate_limited';
  const cart = aCart({
    'GET /api/holds': () => json(200, { data: [] }),
    [`POST /api/events/${EVENT}/holds`]: () =>
      json(409, { error: code, message: 'No.', details: { retry_after_seconds: 90 } }),
    'DELETE /api/holds/h': () => refusal(404, 'hold_not_found'),
  });
  await cart.holdSeats(['A-1'], []);
  code = 'other';
  await cart.release(aHold(300) as never);
  expect(cart.secondsToWait).toBe(0);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(cart.problem?.code).toBe('hold_not_found');
});

test('what was given free in another window is not counted here, and that is said', async () => {
  let held = [aHold(300), aHold(300, { hold_id: 'i' })];
  const cart = aCart({ 'GET /api/holds': () => json(200, { data: held }) });
  await cart.load();
  await cart.refresh();
  expect(cart.wasEndedElsewhere).toBe(false);
  held = held.slice(1);
  await cart.refresh();
  expect(cart.holds.map(({ hold_id: id }) => id)).toEqual(['i']);
  expect(cart.wasEndedElsewhere).toBe(true);
  cart.stop();
});

test('what ended while the device slept has ended, and nobody gave it free', async () => {
  let held = [aHold(300)];
  const api = anApi({ 'GET /api/holds': () => json(200, { data: held }) });
  const cart = new Cart(api, EVENT, () => 0);
  await cart.load();
  held = [];
  vi.setSystemTime(Date.now() + 400_000);
  await cart.refresh();
  expect(cart.hasExpired).toBe(true);
  expect(cart.wasEndedElsewhere).toBe(false);
});

test('other windows are told of what was done here, and not of what was refused', async () => {
  const told = vi.fn();
  const cart = aCart({
    'GET /api/holds': () => json(200, { data: [] }),
    [`POST /api/events/${EVENT}/holds`]: () => json(201, { data: [] }),
  });
  cart.onChange = told;
  await cart.holdSeats(['A-1'], []);
  expect(told).toHaveBeenCalledTimes(1);
  await cart.release(aHold(1) as never);
  expect(told).toHaveBeenCalledTimes(1);
  cart.empty();
  expect(told).toHaveBeenCalledTimes(2);
});

test('everything is given free, and the map is read before that is over', async () => {
  let held = [aHold(300)];
  const cart = aCart({
    'GET /api/holds': () => json(200, { data: held }),
    'DELETE /api/holds/h': () => {
      held = [];
      return new Response(null, { status: 204 });
    },
  });
  await cart.load();
  cart.onRelease = async () => {
    expect(held).toEqual([]);
    expect(cart.isBusy).toBe(true);
    throw new Error('it cannot be read now');
  };
  expect(await cart.releaseAll()).toBe(true);
  expect(cart.holds).toEqual([]);
  expect(cart.hasExpired).toBe(false);
});
