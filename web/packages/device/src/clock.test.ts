import 'fake-indexeddb/auto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DeviceClock } from './clock.ts';
import type { Scene } from './testing.ts';
import { ready, scene } from './testing.ts';
import { codeOf } from './testing_manifest.ts';

let at: Scene;
beforeEach(() => (at = scene()));
afterEach(() => at.closeAll());

function clockOf(): { time: { wall: number; monotonic: number }; clock: DeviceClock } {
  const time = { wall: 1_000_000, monotonic: 0 };
  const clock = new DeviceClock(
    () => time.wall,
    () => time.monotonic,
  );
  return { time, clock };
}

test('a clock that is set back is corrected by as much, and is unsure', () => {
  const { time, clock } = clockOf();
  clock.learn(5, 0);
  time.wall -= 60_000;
  time.monotonic += 10;
  expect(clock.corrected(clock.read())).toBe((1_000_000 + 5_000 + 10) * 1_000);
  expect(clock.isSure).toBe(false);
  clock.learn(65, 0);
  expect(clock.isSure).toBe(true);
});

test('a clock that jumps forward may have slept: nothing is put right until it is measured', () => {
  const { time, clock } = clockOf();
  clock.learn(5, 0);
  time.wall += 600_000;
  const reading = clock.read();
  expect(clock.offsetOf(reading)).toBe(5_000);
  expect(clock.isSure).toBe(false);
});

test('a moment that was read before the clock was set stays what it was', () => {
  const { time, clock } = clockOf();
  const reading = clock.read();
  time.wall -= 60_000;
  clock.read();
  expect(clock.corrected(reading)).toBe(1_000_000 * 1_000);
});

test('half the way there is not the clock’s, and small changes are the network’s', () => {
  const { clock } = clockOf();
  expect(clock.learn(10.4, 800)).toBe(true);
  expect(clock.offsetMs).toBe(10_000);
  expect(clock.learn(10.9, 0)).toBe(false);
  expect(clock.learn(12, 0)).toBe(true);
  expect(clock.offsetMs).toBe(12_000);
});

test('an answer that took too long is no measurement', () => {
  const { clock } = clockOf();
  expect(clock.learn(100, 10_000)).toBe(true);
  expect(clock.isSure).toBe(false);
  expect(clock.offsetMs).toBe(95_000);
  expect(clock.learn(96, 4_000)).toBe(false);
  clock.learn(99, 0);
  expect(clock.learn(300, 5_000)).toBe(false);
  expect(clock.offsetMs).toBe(99_000);
});

test('after a start, a clock that is behind what it showed was set back', () => {
  const { time, clock } = clockOf();
  const state = { offset_ms: 5_000, is_known: true, is_sure: true, last_read: time.wall + 60_000 };
  clock.resume(state);
  expect(clock.offsetMs).toBe(65_000);
  expect(clock.isSure).toBe(false);
});

test('scans of a clock that was unsure are corrected when it is measured, then delivered', async () => {
  const device = await ready(at);
  device.close();
  at.world.skewMs = 900_000; // set while nobody looked
  const reopened = await at.open();
  const answer = await reopened.scan(codeOf(1), 'entry', { offline: true });
  expect(answer.at).toBe((at.world.ms + 900_000) * 1_000);
  await reopened.sync();
  const [call] = at.server.callsTo('/api/scanning/sync');
  expect(call?.body['offset_seconds']).toBe(-900);
  expect(reopened.status).toMatchObject({ clockOffsetMs: -900_000, isClockSure: true });
});

test('a clock that is set between two scans makes two batches, each with the time it shows', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  at.world.skewMs = -120_000;
  await device.scan(codeOf(2), 'entry', { offline: true });
  expect(device.status.isClockSure).toBe(false);
  await device.sync();
  const calls = at.server.callsTo('/api/scanning/sync');
  expect(calls.map((call) => call.body['offset_seconds'])).toEqual([0, 120]);
  expect(calls.map((call) => Date.parse(call.deviceTime ?? ''))).toEqual([
    at.world.ms,
    at.world.ms - 120_000,
  ]);
  const canonical = (await device.recent(2)).map((scan) => Date.parse(scan.scanned_at_corrected));
  expect(canonical).toEqual([at.world.ms, at.world.ms]);
});
