import { LiveClient, type LiveListener, type Api } from '@voelgoed/api';
import { anApi, json, refusal } from '@voelgoed/ui/testing';
import { expect, test, vi } from 'vitest';
import { House } from './house.svelte.ts';
import { aHouse, aServer, EVENT } from './testing.ts';

const TOPIC = `seats:${EVENT}`;
/** However busy the machine is. */
const SOON_MS = 30_000;

class ASocket {
  readyState = 1;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: (() => void) | null = null;
  send(): void {}
  close(): void {}

  say(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
}

function followed(house: House) {
  const socket = new ASocket();
  const leave = house.follow(new LiveClient(() => socket as unknown as WebSocket));
  socket.onopen?.();
  return { socket, leave };
}

test('plan, prices and what is free are read', async () => {
  const house = await aHouse();
  expect(house.status).toBe('ready');
  expect(house.plan!.seats.ids).toEqual(['A-1', 'A-2', 'A-3', 'A-4']);
  expect(house.positions.get('A-3')).toBe(2);
  expect(house.states!.codeAt(1)).toBe(4);
  expect(house.freeFor('floor', null)).toBe(10);
});

test('an address that no event can have is that of an event that is not there', async () => {
  const answers = { ...aServer(), [`GET /api/events/${EVENT}`]: () => refusal(404, 'not_found') };
  const house = await aHouse(answers);
  expect(house.problem?.code).toBe('event_not_found');
});

/** On the first day the floor is full, on the second it is not. */
function fullOnTheFirst(left: number) {
  const days = [
    { day: '2030-01-01', available: 0 },
    { day: '2030-01-02', available: left },
  ];
  return () => json(200, { data: { zones: [{ zone_id: 'floor', available: 0, days }] } });
}

test('what is full on one day is for sale on the other', async () => {
  const key = `GET /api/events/${EVENT}/availability`;
  const house = await aHouse({ ...aServer(), [key]: fullOnTheFirst(4) });
  expect(house.freeFor('floor', ['2030-01-02'])).toBe(4);
  expect(house.freeFor('floor', ['2030-01-01'])).toBe(0);
  expect(house.freeFor('floor', ['2030-01-01', '2030-01-02'])).toBe(0);
  expect(house.freeFor('floor', null)).toBe(0);
});

test('of several days it is asked how many are left, once for many messages', async () => {
  const answers = aServer();
  const key = `GET /api/events/${EVENT}/availability`;
  answers[key] = fullOnTheFirst(4);
  const house = await aHouse(answers);
  vi.useFakeTimers();
  let tell: LiveListener['onMessage'] = () => undefined;
  const leave = house.follow({
    subscribe: (_, { onMessage }) => ((tell = onMessage), () => undefined),
  });
  const read = vi.fn(fullOnTheFirst(3));
  answers[key] = read;
  const { seq } = house.states!;
  for (const more of [1, 2, 3]) {
    tell({ event: 'places_changed', seats: [], places: [['floor', 0]] }, seq + more);
  }
  await vi.advanceTimersByTimeAsync(2_000);
  expect(house.freeFor('floor', ['2030-01-02'])).toBe(3);
  expect(read).toHaveBeenCalledTimes(1);
  leave();
  vi.useRealTimers();
});

test('a failure is told, and reading again helps', async () => {
  const answers = { ...aServer() };
  delete answers[`GET /api/events/${EVENT}/layout`];
  const house = await aHouse(answers);
  expect(house.status).toBe('failed');
  expect(house.problem?.code).toBe('network');
  Object.assign(answers, aServer());
  await house.load();
  expect(house.status).toBe('ready');
});

test('the next change is applied; after a gap, or too many changes, the map is read again', async () => {
  const answers = aServer();
  const key = `GET /api/events/${EVENT}/seats`;
  let seq = 3;
  const read = vi.fn(() => json(200, { data: { seat_count: 4, seats: btoa('\x40\x00'), seq } }));
  answers[key] = read;
  const house = await aHouse(answers);
  const { socket, leave } = followed(house);
  socket.say({ type: 'subscribed', topic: TOPIC, seq: 3 });
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(2), { timeout: SOON_MS });
  await vi.waitFor(() => expect(house.states!.seq).toBe(3), { timeout: SOON_MS });
  const changed = (number: number, seats: unknown) =>
    socket.say({
      type: 'message',
      topic: TOPIC,
      seq: number,
      data: { event: 'seats_changed', seats },
    });
  changed(4, [[2, 1]]);
  expect(house.states!.codeAt(2)).toBe(1);
  expect(read).toHaveBeenCalledTimes(2);
  seq = 6;
  changed(6, [[3, 1]]);
  await vi.waitFor(() => expect(house.states!.seq).toBe(6), { timeout: SOON_MS });
  seq = 7;
  changed(7, null);
  await vi.waitFor(() => expect(house.states!.seq).toBe(7), { timeout: SOON_MS });
  leave();
});

test('a map that is older than what was told meanwhile is read once more', async () => {
  const answers = aServer();
  const house = new House(anApi(answers) as Api, EVENT);
  let tell: LiveListener['onMessage'] = () => undefined;
  house.follow({ subscribe: (_, { onMessage }) => ((tell = onMessage), () => undefined) });
  let seq = 8;
  answers[`GET /api/events/${EVENT}/seats`] = () =>
    json(200, { data: { seat_count: 4, seats: btoa('\x40\x00'), seq: seq++ } });
  tell({ seats: [] }, 9);
  await house.load();
  expect(house.states!.seq).toBe(9);
});

test('places without numbers are counted as they are told', async () => {
  const answers = aServer();
  const house = await aHouse(answers);
  let tell: LiveListener['onMessage'] = () => undefined;
  house.follow({ subscribe: (_, { onMessage }) => ((tell = onMessage), () => undefined) });
  const { seq } = house.states!;
  tell({ event: 'places_changed', seats: [], places: [['floor', 7]] }, seq + 1);
  expect(house.freeFor('floor', null)).toBe(7);
  expect(house.states!.seq).toBe(seq + 1);
  const read = vi.fn(aServer()[`GET /api/events/${EVENT}/availability`]);
  answers[`GET /api/events/${EVENT}/availability`] = read;
  tell({ event: 'places_changed', seats: [], places: null }, seq + 2);
  await vi.waitFor(() => expect(house.freeFor('floor', null)).toBe(10), { timeout: SOON_MS });
  expect(read).toHaveBeenCalledTimes(1);
});
