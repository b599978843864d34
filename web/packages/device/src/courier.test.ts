import 'fake-indexeddb/auto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CourierOptions } from './courier.ts';
import { Courier } from './courier.ts';
import type { Device } from './client.ts';
import type { Scene } from './testing.ts';
import { ready, refused, scene } from './testing.ts';
import { codeOf, manifestOf, signedBody } from './testing_manifest.ts';

let at: Scene;
let couriers: Courier[];
beforeEach(() => {
  at = scene();
  couriers = [];
});
afterEach(() => {
  couriers.forEach((courier) => courier.stop());
  at.closeAll();
});

const SYNC = '/api/scanning/sync';
const HEARTBEAT = '/api/scanning/heartbeat';

/** Sleeps that end on demand. */
class Naps {
  naps: { ms: number; end: () => void }[] = [];

  readonly sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const nap = { ms: Math.round(ms), end: () => this.end(nap, resolve) };
      this.naps.push(nap);
      signal?.addEventListener('abort', nap.end);
      if (signal?.aborted) nap.end();
    });

  private end(nap: { ms: number }, resolve: () => void): void {
    this.naps = this.naps.filter((each) => each !== nap);
    resolve();
  }

  endAll(): void {
    for (const nap of [...this.naps]) nap.end();
  }

  get lengths(): number[] {
    return this.naps.map((nap) => nap.ms).sort((one, other) => one - other);
  }
}

function employ(device: Device, naps: Naps, options: CourierOptions = {}): Courier {
  const { now } = at.world;
  const courier = new Courier(device, { sleep: naps.sleep, now, random: () => 0.5, ...options });
  couriers.push(courier);
  courier.start();
  return courier;
}

async function isIdle(naps: Naps): Promise<void> {
  await expect.poll(() => naps.lengths).toEqual([30_000, 30_000]);
}

test('at the start it sends a heartbeat, and delivers the waiting scans', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  const naps = new Naps();
  employ(device, naps, { battery: async () => 41.6 });
  await isIdle(naps);
  expect(at.server.callsTo(HEARTBEAT)[0]?.body).toMatchObject({
    battery_percent: 42,
    queue_length: 1,
    manifest_version: 1,
  });
  expect(device.status).toMatchObject({ pending: 0, reach: 'online', retryAt: null });
});

test('a new scan is delivered at once, and those after it together', async () => {
  const device = await ready(at);
  const naps = new Naps();
  employ(device, naps);
  await isIdle(naps);
  at.world.ms += 10_000;
  await device.scan(codeOf(1), 'entry', { offline: true });
  await expect.poll(() => device.status.pending).toBe(0);
  await isIdle(naps);
  await device.scan(codeOf(2), 'entry', { offline: true });
  await expect.poll(() => naps.lengths).toEqual([6_000, 30_000]);
  await device.scan(codeOf(3), 'entry', { offline: true });
  at.world.ms += 6_000;
  naps.naps.find((nap) => nap.ms === 6_000)?.end();
  await expect.poll(() => device.status.pending).toBe(0);
  expect(at.server.callsTo(SYNC)).toHaveLength(2);
});

test('after a failure it waits, new scans do not hurry it, and a nudge does', async () => {
  const device = await ready(at);
  device.close();
  const naps = new Naps();
  const reopened = await at.open({ sleep: naps.sleep });
  at.server.weather = () => 'lost';
  await reopened.scan(codeOf(1), 'entry');
  const courier = employ(reopened, naps);
  await expect.poll(() => naps.lengths).toEqual([22_500, 30_000]);
  expect(reopened.status).toMatchObject({ reach: 'offline', retryAt: at.world.ms + 22_500 });

  const calls = at.server.calls.length;
  await reopened.scan(codeOf(2), 'entry', { offline: true });
  expect(at.server.calls).toHaveLength(calls);

  at.server.weather = () => 'fine';
  courier.nudge();
  await expect.poll(() => reopened.status.pending).toBe(0);
  expect(reopened.status).toMatchObject({ reach: 'online', retryAt: null });
});

test('a heartbeat that gets through again is enough to deliver the waiting scans', async () => {
  const device = await ready(at);
  device.close();
  const naps = new Naps();
  const reopened = await at.open({ sleep: naps.sleep });
  at.server.weather = () => 'lost';
  await reopened.scan(codeOf(1), 'entry');
  employ(reopened, naps);
  await expect.poll(() => naps.lengths).toEqual([22_500, 30_000]);
  at.server.weather = () => 'fine';
  naps.naps.find((nap) => nap.ms === 30_000)?.end();
  await expect.poll(() => reopened.status.pending).toBe(0);
});

test('deliveries that it made by itself are reported', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  const naps = new Naps();
  employ(device, naps);
  await isIdle(naps);
  expect(device.status.lastReport).toMatchObject({ synced: 1, failed: 0, reason: null });
});

test('a network that may be back does not shorten the pause that the server asked for', async () => {
  (await ready(at)).close();
  const naps = new Naps();
  const device = await at.open({ sleep: naps.sleep });
  await device.scan(codeOf(1), 'entry', { offline: true });
  at.server.weather = ({ path }) => {
    if (path !== SYNC) return 'fine';
    const answer = refused(429, 'too_many_syncs');
    answer.headers.set('Retry-After', '120');
    return answer;
  };
  const courier = employ(device, naps);
  await expect.poll(() => naps.lengths).toEqual([30_000, 120_500]);
  const calls = at.server.callsTo(SYNC).length;
  courier.nudge();
  await expect.poll(() => naps.lengths).toEqual([30_000, 120_500]);
  expect(at.server.callsTo(SYNC)).toHaveLength(calls);
  at.server.weather = () => 'fine';
  device.hurry();
  await expect.poll(() => device.status.pending).toBe(0);
});

test('scans that waited for a new key are delivered as soon as there is one', async () => {
  const device = await ready(at);
  device.close();
  const naps = new Naps();
  const reopened = await at.open({ sleep: naps.sleep });
  await reopened.scan(codeOf(1), 'entry', { offline: true });
  at.server.status = 'revoked';
  employ(reopened, naps);
  await expect.poll(() => naps.lengths).toEqual([22_500, 30_000]);
  expect(reopened.isRevoked).toBe(true);

  at.server.tokens.add('again');
  await reopened.pair('again');
  await expect.poll(() => reopened.status.pending).toBe(0);
  await isIdle(naps);
  expect(at.server.callsTo(HEARTBEAT).at(-1)?.apiKey).toBe(at.server.apiKey);
});

test('it reports faults that somebody has to act on', async () => {
  const device = await ready(at);
  const naps = new Naps();
  const faults: unknown[] = [];
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  const forged = await signedBody(await manifestOf(2, at.world.ms, 25), 'somebody’s key', 0);
  at.server.weather = ({ path }) => (path.includes('manifest') ? new Response(forged) : 'fine');
  employ(device, naps, { onFault: (fault) => faults.push(fault) });
  await isIdle(naps);
  expect(faults).toMatchObject([{ code: 'forged_manifest', kind: 'signature' }]);
  at.server.weather = () => 'lost';
  at.world.ms += 30_000;
  naps.endAll();
  await isIdle(naps);
  expect(faults).toHaveLength(1);
});

test('nothing is sent for an unpaired or revoked device', async () => {
  const device = await at.open();
  const naps = new Naps();
  employ(device, naps);
  await isIdle(naps);
  expect(at.server.calls).toEqual([]);
});

test('the network is degraded where answers are slow, or only refusals arrive', async () => {
  const device = await ready(at);
  expect(device.status.reach).toBe('online');
  at.server.weather = () => 'slow';
  await device.scan(codeOf(1), 'entry');
  expect(device.status.reach).toBe('degraded');
  at.server.weather = () => new Response('<html>', { status: 200 });
  await device.scan(codeOf(2), 'entry');
  expect(device.status.reach).toBe('offline');
  at.server.weather = () => new Response('bad gateway', { status: 502 });
  await device.scan(codeOf(3), 'entry');
  expect(device.status.reach).toBe('degraded');
});
