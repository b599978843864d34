import { LiveClient, type LiveListener, type Api } from '@voelgoed/api';
import { anApi, json } from '@voelgoed/ui/testing';
import { expect, test, vi } from 'vitest';
import { House } from './house.svelte.ts';
import { aHouse, aServer, EVENT } from './testing.ts';

const TOPIC = `seats:${EVENT}`;

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
  expect(house.free.get('floor')).toBe(10);
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
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(2));
  await vi.waitFor(() => expect(house.states!.seq).toBe(3));
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
  await vi.waitFor(() => expect(house.states!.seq).toBe(6));
  seq = 7;
  changed(7, null);
  await vi.waitFor(() => expect(house.states!.seq).toBe(7));
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
  expect(house.free.get('floor')).toBe(7);
  expect(house.states!.seq).toBe(seq + 1);
  const read = vi.fn(aServer()[`GET /api/events/${EVENT}/availability`]);
  answers[`GET /api/events/${EVENT}/availability`] = read;
  tell({ event: 'places_changed', seats: [], places: null }, seq + 2);
  await vi.waitFor(() => expect(house.free.get('floor')).toBe(10));
  expect(read).toHaveBeenCalledTimes(1);
});
