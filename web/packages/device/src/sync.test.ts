import 'fake-indexeddb/auto';
import { parseMoment } from '@voelgoed/rules';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from './client.ts';
import type { BroughtScan, Scene } from './testing.ts';
import { ready, refused, scene } from './testing.ts';
import { codeOf } from './testing_manifest.ts';

let at: Scene;
beforeEach(() => (at = scene()));
afterEach(() => at.closeAll());

const SYNC = '/api/scanning/sync';

async function scanAlone(device: Device, count: number, first = 1): Promise<string[]> {
  const ids: string[] = [];
  for (let ticket = first; ticket < first + count; ticket += 1) {
    const answer = await device.scan(codeOf(ticket), 'entry', { offline: true });
    ids.push(answer.scan_id);
  }
  return ids;
}

function batchSizes(): number[] {
  return at.server.callsTo(SYNC).map((call) => (call.body['scans'] as BroughtScan[]).length);
}

test('what waits is brought fifty at a time, in its order, packed, with progress', async () => {
  const device = await ready(at);
  const ids = await scanAlone(device, 120);
  const shown: (number | undefined)[] = [];
  device.onChange(() => shown.push(device.status.syncing?.done));
  const report = await device.sync();
  expect(report).toMatchObject({ synced: 120, failed: 0, left: 0, requests: 3, reason: null });
  expect(batchSizes()).toEqual([50, 50, 20]);
  expect([...at.server.scans.keys()]).toEqual(ids);
  expect(at.server.callsTo(SYNC).every((call) => call.isPacked)).toBe(true);
  expect(new Set(shown)).toEqual(new Set([0, 50, 100, 120, undefined]));
  expect(device.status).toMatchObject({ pending: 0, failed: 0, syncing: null });
  expect(device.status.lastSyncAt).toBe(parseMoment(at.server.time));
});

test('a batch without an answer is sent again to the byte, after longer and longer waits', async () => {
  const device = await ready(at);
  await scanAlone(device, 2);
  const weathers = ['lost', 'unheard', 'cut', 'slow'] as const;
  let attempt = 0;
  at.server.weather = ({ path }) => (path === SYNC ? (weathers[attempt++] ?? 'fine') : 'fine');
  const report = await device.sync();
  expect(report).toMatchObject({ synced: 2, left: 0, requests: 5 });
  const bodies = at.server.callsTo(SYNC).map((call) => JSON.stringify(call.body));
  expect(new Set(bodies).size).toBe(1);
  expect(at.world.slept).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect([...at.server.taken.values()]).toEqual([1, 1]);
});

test('after five attempts it gives up for now, and says when it is tried again', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  at.server.weather = ({ path }) => (path === SYNC ? 'lost' : 'fine');
  const times: (number | null)[] = [];
  device.onChange(() => times.push(device.status.retryAt));
  const report = await device.sync();
  expect(report).toMatchObject({ synced: 0, left: 1, requests: 5, reason: 'server_away' });
  expect(times.some((time) => time !== null)).toBe(true);
  expect(device.status.retryAt).toBeNull();
  expect(device.status.reach).toBe('offline');
  expect(await device.queue('pending')).toMatchObject([{ retry_count: 5 }]);
});

test('the wait that the server asks for is kept, and is no attempt', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  let busy = 7;
  at.server.weather = ({ path }) => {
    if (path !== SYNC || busy-- <= 0) return 'fine';
    const answer = refused(429, 'too_many_syncs');
    answer.headers.set('Retry-After', '12');
    return answer;
  };
  expect(await device.sync()).toMatchObject({ synced: 1, requests: 8 });
  expect(at.world.slept).toEqual(Array(7).fill(12_500));
});

test('a batch that cannot be read is halved until the one scan that is the reason is alone', async () => {
  const device = await ready(at);
  const ids = await scanAlone(device, 20);
  const bad = ids[13] ?? '';
  at.server.poison.add(bad);
  const report = await device.sync();
  expect(report).toMatchObject({ synced: 19, failed: 1, left: 0 });
  expect(await device.queue('failed')).toMatchObject([
    { scan_id: bad, last_error: 'batch_malformed: Refused: batch_malformed.' },
  ]);
});

test('what is rejected is kept with its reason, can be tried again, and given up for a reason', async () => {
  const device = await ready(at);
  const [id = ''] = await scanAlone(device, 3);
  at.server.spoilt.set(id, 99);
  expect(await device.sync()).toMatchObject({ synced: 2, failed: 1, left: 0 });
  const [failed] = await device.queue('failed');
  expect(failed).toMatchObject({ scan_id: id, refusal_count: 5 });
  expect(failed?.last_error).toMatch(/^invalid_signature/);

  await device.discard([id], 'tried out');
  expect(device.status).toMatchObject({ pending: 0, failed: 0 });
  expect(await device.queue('discarded')).toMatchObject([{ scan_id: id, last_error: 'tried out' }]);
  const file = JSON.parse(await (await device.exportQueue()).text());
  expect(file.scans).toMatchObject([{ scan_id: id }]);
});

test('what failed and is tried again can arrive', async () => {
  const device = await ready(at);
  const [id = ''] = await scanAlone(device, 1);
  at.server.spoilt.set(id, 6);
  expect(await device.sync()).toMatchObject({ failed: 1 });
  await device.retry([id]);
  expect(device.status).toMatchObject({ pending: 1, failed: 0 });
  expect(await device.sync()).toMatchObject({ synced: 1, left: 0 });
});

test('a signature that was spoilt on the way is sent again', async () => {
  const device = await ready(at);
  const [id = ''] = await scanAlone(device, 1);
  at.server.spoilt.set(id, 2);
  expect(await device.sync()).toMatchObject({ synced: 1, failed: 0, requests: 3 });
});

test('an id that was used for another batch is left for another', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  let first = true;
  at.server.weather = ({ path }) => {
    if (path !== SYNC || !first) return 'fine';
    first = false;
    return refused(409, 'batch_id_reused');
  };
  expect(await device.sync()).toMatchObject({ synced: 1, requests: 2 });
  const ids = at.server.callsTo(SYNC).map((call) => call.body['sync_batch_id']);
  expect(new Set(ids).size).toBe(2);
});

test('a server that never settles anything is left alone after a while', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  at.server.weather = ({ path }) => (path === SYNC ? refused(409, 'batch_id_reused') : 'fine');
  expect(await device.sync()).toMatchObject({ left: 1, requests: 20, reason: 'refused' });
});

test('of two tabs one sends, and both see what became of it', async () => {
  const device = await ready(at);
  const other = await at.open();
  const ids = await scanAlone(device, 60);
  const reports = await Promise.all([device.sync(), other.sync()]);
  expect(reports.map((report) => report.reason).sort()).toEqual(['busy', null]);
  expect(at.server.callsTo(SYNC)).toHaveLength(2);
  expect(ids.map((id) => at.server.taken.get(id))).toEqual(Array(60).fill(1));
  await expect.poll(() => other.status.pending).toBe(0);
});

test('scans that are made while others are brought are brought too', async () => {
  const device = await ready(at);
  await scanAlone(device, 5);
  const syncing = device.sync();
  await scanAlone(device, 5, 100);
  await syncing;
  await device.sync();
  expect(at.server.scans.size).toBe(10);
});

test('it stops when nobody waits for it any more, and loses nothing', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  const stop = new AbortController();
  at.server.weather = ({ path }) => {
    if (path === SYNC) stop.abort();
    return path === SYNC ? 'lost' : 'fine';
  };
  expect(await device.sync(stop.signal)).toMatchObject({ left: 1, reason: 'stopped' });
  at.server.weather = () => 'fine';
  expect(await device.sync()).toMatchObject({ synced: 1 });
});

test('the whole queue goes at once and unsigned, and what is not kept there is kept here', async () => {
  const device = await ready(at);
  const ids = await scanAlone(device, 60);
  at.server.poison.add(ids[7] ?? '');
  const report = await device.syncWhole();
  expect(report).toMatchObject({ synced: 59, failed: 1, left: 0, requests: 1 });
  expect(await device.queue('failed')).toMatchObject([
    { scan_id: ids[7], last_error: 'gate_not_found' },
  ]);
  expect(at.server.taken.size).toBe(59);
});

test('the export has the shape that the server imports', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  await device.scan('ZZZZ-ZZZZ-ZZZZ', 'exit', { offline: true });
  const file = JSON.parse(await (await device.exportQueue()).text());
  expect(Object.keys(file)).toEqual(['device_id', 'exported_at', 'scans']);
  expect(file.scans.map(Object.keys)).toEqual([
    [...SIGNED, 'outcome', 'signature', 'direction', 'offset_seconds'],
    [...SIGNED, 'outcome', 'signature', 'direction', 'ticket_code', 'offset_seconds'],
  ]);
  expect(device.status.pending).toBe(2);
});

const SIGNED = ['scan_id', 'ticket_id', 'barcode_hash', 'scanned_at', 'gate_id'];
