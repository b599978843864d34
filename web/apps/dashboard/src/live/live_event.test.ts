import type { LiveClient } from '@voelgoed/api';
import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerClock } from '../server_clock.ts';
import { aDevice } from '../testing.ts';
import { GATES_FOLLOWED_MAX, LiveEvent } from './live_event.svelte.ts';

const NOW = Date.parse('2030-01-01T16:00:30Z');
const SCANNING = '/api/scanning/events/event';
const GET_OCCUPANCY = `GET ${SCANNING}/occupancy`;
const GET_OUTLOOK = `GET ${SCANNING}/outlook`;

type Listener = Parameters<LiveClient['subscribe']>[1];

class FakeLive {
  readonly listeners = new Map<string, Listener>();
  seq = 0;

  subscribe(topic: string, listener: Listener): () => void {
    this.listeners.set(topic, listener);
    return () => void this.listeners.delete(topic);
  }

  says(topic: string, data: Record<string, unknown>): void {
    this.seq += 1;
    this.listeners.get(topic)?.onMessage(data, this.seq);
  }
}

function anOutlook(to_come = 300, alerts = 0) {
  return { to_come, open: { alerts, critical_alerts: 0, conflicts: 0, recoveries: 0 } };
}

function aServer(inside = 1_200, gates = 1): Answers {
  const names = Array.from({ length: gates }, (_, at) => ({ id: `g${at}`, name: `Gate ${at}` }));
  const occupancy = {
    current: inside,
    capacity: 5_000,
    percent_full: 24,
    day: 'd',
    counts: [],
    gates: [],
  };
  return {
    'GET /api/events/event/gates': () =>
      json(200, { data: names.map((gate) => ({ ...gate, capacity: 100 })) }),
    'GET /api/events/event/availability': () => json(404, { error: 'x', message: 'x' }),
    [GET_OCCUPANCY]: () => json(200, { data: occupancy }),
    [`GET ${SCANNING}/scans`]: () => json(200, { data: [], next: null }),
    [`GET ${SCANNING}/manifest-status`]: () => json(200, { data: { manifest_version: 3 } }),
    [GET_OUTLOOK]: () => json(200, { data: anOutlook() }),
    'GET /api/scanning/devices': () =>
      json(200, {
        data: [aDevice(), aDevice({ silent_seconds: 340, status: 'offline' })],
        next: null,
      }),
  };
}

async function aLiveEvent(answers = aServer()) {
  const live = new FakeLive();
  const clock = new ServerClock(() => NOW);
  const event = new LiveEvent(anApi(answers), live, clock, 'event', 'org');
  const stop = event.start();
  await vi.waitFor(() => expect(event.status).not.toBe('loading'));
  return { live, event, stop };
}

function entry(total: number, ticket: string) {
  const levels = { total_occupancy: total, gate_id: 'g0', gate_occupancy: total - 1_190 };
  const timestamp = '2030-01-01T16:00:20Z';
  return { event: 'ticket_scanned', direction: 'entry', ticket_id: ticket, timestamp, ...levels };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('begins with what the server has counted, and how sure that is', async () => {
  const { event } = await aLiveEvent();
  expect(event.status).toBe('ready');
  expect(event.picture?.total).toMatchObject({ inside: 1_200, percent: 24 });
  expect(event.picture?.uncertainty).toMatchObject({ silentDevices: 1, silentSeconds: 340 });
});

test('a thousand messages in a moment are one more picture, with all of them', async () => {
  const { event, live } = await aLiveEvent();
  await vi.advanceTimersByTimeAsync(1_000);
  const pictures = new Set([event.picture]);
  for (let count = 1; count <= 1_000; count += 1) {
    live.says('occupancy:org:event', entry(1_200 + count, `ticket ${count}`));
    pictures.add(event.picture);
  }
  expect(pictures.size).toBe(2);
  await vi.advanceTimersByTimeAsync(250);
  expect(event.picture?.series.at(-1)?.entries).toBe(1_000);
});

test('those turned away are told by their gates', async () => {
  const { event, live } = await aLiveEvent();
  const denied = { event: 'ticket_denied', timestamp: '2030-01-01T16:00:10Z' };
  live.says('gate:g0', { ...denied, scan_id: 'a', reason: 'already_scanned' });
  live.says('gate:g0', { event: 'ticket_admitted', scan_id: 'b' });
  await vi.advanceTimersByTimeAsync(500);
  expect(event.picture?.denied).toEqual([['already_scanned', 1]]);
});

test('a gate that does all it can while many are to come is under pressure', async () => {
  const { event, live } = await aLiveEvent();
  for (let count = 1; count <= 30; count += 1) {
    live.says('occupancy:org:event', entry(1_200 + count, `ticket ${count}`));
  }
  await vi.advanceTimersByTimeAsync(500);
  const pressure = { perMinute: 30, turnedAway: 0, best: 30, level: 'pressed' };
  expect(event.picture?.pressures.get('g0')).toEqual(pressure);
  expect(event.picture?.lately).toEqual({ entries: 30, exits: 0 });
  expect(event.picture?.forecast).toEqual({ kind: 'never' });
});

test('what waits for a decision is counted again when an alert is told of', async () => {
  const answers = aServer();
  const { event, live } = await aLiveEvent(answers);
  expect(event.outlook?.open.alerts).toBe(0);
  Object.assign(answers, { [GET_OUTLOOK]: () => json(200, { data: anOutlook(300, 2) }) });
  live.says('alerts:event', { event: 'alert_raised' });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(event.outlook?.open.alerts).toBe(2);
});

test('a correction has the counts read again', async () => {
  const answers = aServer();
  const { event, live } = await aLiveEvent(answers);
  Object.assign(answers, { [GET_OCCUPANCY]: aServer(900)[GET_OCCUPANCY] });
  live.says('occupancy:org:event', { event: 'occupancy_corrected' });
  await vi.advanceTimersByTimeAsync(6_000);
  expect(event.picture?.total.inside).toBe(900);
});

test('a server that cannot be reached is told, and what was counted stays', async () => {
  const answers = aServer();
  const { event, live } = await aLiveEvent(answers);
  delete answers[GET_OCCUPANCY];
  live.says('occupancy:org:event', { event: 'occupancy_corrected' });
  await vi.advanceTimersByTimeAsync(6_000);
  expect(event.problem?.code).toBe('network');
  expect(event.picture?.total.inside).toBe(1_200);
});

test('a beginning that fails can be tried again', async () => {
  const answers: Answers = {};
  const { event } = await aLiveEvent(answers);
  expect(event.status).toBe('failed');
  Object.assign(answers, aServer());
  await event.load();
  expect(event.status).toBe('ready');
});

test('of very many gates it follows as many as a connection takes, and says so', async () => {
  const { event, live } = await aLiveEvent(aServer(0, GATES_FOLLOWED_MAX + 5));
  expect(live.listeners.size).toBe(GATES_FOLLOWED_MAX + 2);
  expect(event.hasUnheardGates).toBe(true);
});

test('leaves everything when the page is left', async () => {
  const { live, stop } = await aLiveEvent();
  stop();
  expect(live.listeners.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});
