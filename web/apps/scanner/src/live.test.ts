import type { Identity } from '@voelgoed/device';
import { expect, test, vi } from 'vitest';
import { Live } from './live.svelte.ts';

const IDENTITY: Identity = {
  api_key: 'vgd_1',
  device_id: 'd',
  name: 'North 1',
  organization_id: 'o',
  organization_name: 'Die Skuur',
  event_id: 'e',
  gate_id: 'g',
};
const OCCUPANCY = 'occupancy:o:e';

function aConnection() {
  const sockets: (WebSocket & { sent: { topic: string }[] })[] = [];
  const connect = vi.fn((_key: string) => {
    const sent: { topic: string }[] = [];
    const socket = {
      sent,
      readyState: 1,
      send: (text: string) => sent.push(JSON.parse(text) as { topic: string }),
      close: () => undefined,
    } as unknown as WebSocket & { sent: { topic: string }[] };
    sockets.push(socket);
    return socket;
  });
  const onHint = vi.fn(async () => undefined);
  const live = new Live(connect, onHint);
  const hear = (frame: object) => {
    const event = new MessageEvent('message', { data: JSON.stringify(frame) });
    sockets.at(-1)?.onmessage?.(event);
  };
  const open = () => sockets.at(-1)?.onopen?.(new Event('open'));
  return { connect, hear, live, onHint, open, sockets };
}

test('follows its own topics with its own key', () => {
  const { connect, live, open, sockets } = aConnection();
  live.follow(IDENTITY);
  open();
  expect(connect).toHaveBeenCalledWith('vgd_1');
  expect(sockets[0]?.sent.map(({ topic }) => topic).sort()).toEqual([
    'device:d',
    'event:e',
    OCCUPANCY,
  ]);
});

test('shows the number of people inside, and by this gate', () => {
  const { hear, live, open } = aConnection();
  live.follow(IDENTITY);
  open();
  hear({ type: 'subscribed', topic: OCCUPANCY, seq: 1 });
  const data = { total_occupancy: 412, percent_full: 41, gate_id: 'g', gate_occupancy: 80 };
  hear({ type: 'message', topic: OCCUPANCY, seq: 2, data });
  expect(live.occupancy).toEqual({ total: 412, percentFull: 41, atGate: 80 });
  const elsewhere = { total_occupancy: 413, gate_id: 'other', gate_occupancy: 9 };
  hear({ type: 'message', topic: OCCUPANCY, seq: 3, data: elsewhere });
  expect(live.occupancy).toEqual({ total: 413, percentFull: 41, atGate: 80 });
});

test('once the connection broke, no number is shown', () => {
  const { hear, live, open, sockets } = aConnection();
  live.follow(IDENTITY);
  open();
  hear({ type: 'subscribed', topic: OCCUPANCY, seq: 1 });
  hear({ type: 'message', topic: OCCUPANCY, seq: 2, data: { total_occupancy: 412 } });
  sockets[0]?.onclose?.(new Event('close') as CloseEvent);
  expect(live.occupancy).toEqual({ total: null, percentFull: null, atGate: null });
  live.stop();
});

test('a message about the device makes it ask for its station', () => {
  const { hear, live, onHint, open } = aConnection();
  live.follow(IDENTITY);
  open();
  hear({ type: 'subscribed', topic: 'device:d', seq: 1 });
  hear({ type: 'message', topic: 'device:d', seq: 2, data: { event: 'device_changed' } });
  expect(onHint).toHaveBeenCalledOnce();
});

test('another key opens another connection, the same one does not, and none closes it', () => {
  const { connect, live } = aConnection();
  live.follow(IDENTITY);
  live.follow({ ...IDENTITY, name: 'Renamed' });
  expect(connect).toHaveBeenCalledTimes(1);
  live.follow({ ...IDENTITY, api_key: 'vgd_2' });
  expect(connect).toHaveBeenLastCalledWith('vgd_2');
  live.follow({ ...IDENTITY, api_key: null });
  expect(connect).toHaveBeenCalledTimes(2);
  expect(live.state).toBe('idle');
});
