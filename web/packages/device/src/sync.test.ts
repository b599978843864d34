import 'fake-indexeddb/auto';
import { parseMoment } from '@voelgoed/rules';
import { openDB } from 'idb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from './client.ts';
import { sleep } from './options.ts';
import type { BroughtScan, Scene, Weather } from './testing.ts';
import { exported, json, ready, refused, scene } from './testing.ts';
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

test('waiting scans are delivered fifty at a time, in their order, compressed, with progress', async () => {
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

test('after five attempts it gives up for now, and reports when it tries again', async () => {
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

/** To the next batch, and to all after it. */
function answerSync(answer: () => Weather): void {
  at.server.weather = ({ path }) => (path === SYNC ? answer() : 'fine');
}

function busyFor(retryAfter: string, headers: Record<string, string> = {}): Response {
  const answer = refused(429, 'too_many_syncs');
  for (const [name, value] of Object.entries({ ...headers, 'Retry-After': retryAfter })) {
    answer.headers.set(name, value);
  }
  return answer;
}

test.each([
  ['0', {}, 1_500],
  ['86400', {}, 300_500],
  ['99999999999', {}, 300_500],
  ['Mon, 16 Nov 2026 18:00:20 GMT', {}, 20_500],
  ['Wed, 21 Oct 2026 07:28:00 GMT', {}, 1_500],
  ['Mon, 16 Nov 2026 19:00:20 GMT', { Date: 'Mon, 16 Nov 2026 19:00:00 GMT' }, 20_500],
])('a wait of %s is one of a second to five minutes', async (retryAfter, headers, sleptMs) => {
  const device = await ready(at);
  await scanAlone(device, 1);
  let isFirst = true;
  answerSync(() => {
    const answer = isFirst ? busyFor(retryAfter, headers) : 'fine';
    isFirst = false;
    return answer;
  });
  expect(await device.sync()).toMatchObject({ synced: 1, requests: 2 });
  expect(at.world.slept).toEqual([sleptMs]);
});

test.each(['', '-5', 'soon', '1e9'])(
  'a wait of “%s” is none, and a failure',
  async (retryAfter) => {
    const device = await ready(at);
    await scanAlone(device, 1);
    answerSync(() => busyFor(retryAfter));
    expect(await device.sync()).toMatchObject({ requests: 5, reason: 'server_away' });
    expect(at.world.slept).toEqual([1_000, 2_000, 4_000, 8_000]);
  },
);

test('only the server can ask for a pause, and nothing in between', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  answerSync(() => new Response('<html>', { status: 429, headers: { 'Retry-After': '240' } }));
  expect(await device.sync()).toMatchObject({ requests: 5, reason: 'server_away' });
  expect(at.world.slept).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test('a pause that the server asked for ends early only when somebody asks for a sync', async () => {
  (await ready(at)).close();
  const rests: AbortSignal[] = [];
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal !== undefined) rests.push(signal);
      signal?.addEventListener('abort', () => resolve());
    });
  const device = await at.open({ sleep });
  await scanAlone(device, 1);
  answerSync(() => busyFor('240'));
  const syncing = device.sync();
  await expect.poll(() => rests.length).toBe(1);
  at.server.weather = () => 'fine';
  device.nudge();
  expect(rests[0]?.aborted).toBe(false);
  device.hurry();
  expect(await syncing).toMatchObject({ synced: 1, reason: null });
});

test('no timer is set for longer than browsers can count', async () => {
  const stop = new AbortController();
  let isOver = false;
  const slept = sleep(366 * 86_400_000, stop.signal).then(() => (isOver = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isOver).toBe(false);
  stop.abort();
  await slept;
});

test('a batch that cannot be read is halved until the scan that causes it is alone', async () => {
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

test('a rejected scan is kept with its reason, can be tried again, and discarded for a reason', async () => {
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
  expect(device.status.discarded).toBe(1);
  expect(await exported(device)).toMatchObject([{ scans: [{ scan_id: id }] }]);
});

test('a failed scan that is tried again can arrive', async () => {
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

test('between answers for no scan it waits longer and longer', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  const nothing = { processed: [], skipped: [], rejected: [], conflicts: [], offset_seconds: 0 };
  answerSync(() => json(200, { ...nothing, server_time: at.server.time }));
  expect(await device.sync()).toMatchObject({ left: 1, requests: 20, reason: 'refused' });
  expect(at.world.slept.slice(0, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
  expect(at.world.slept).toHaveLength(19);
});

test('a batch that is halved is sent at once', async () => {
  const device = await ready(at);
  const ids = await scanAlone(device, 8);
  at.server.poison.add(ids[7] ?? '');
  expect(await device.sync()).toMatchObject({ synced: 7, failed: 1 });
  // Alone it is refused five times; before that, no two answers in a row were the same.
  expect(at.world.slept).toEqual([1_000, 2_000, 4_000, 8_000]);
});

test('the last report covers automatic deliveries, until something else is delivered', async () => {
  const device = await ready(at);
  expect(device.status.lastReport).toBeNull();
  const [id = ''] = await scanAlone(device, 3);
  at.server.spoilt.set(id, 99);
  await device.sync();
  const told = { synced: 2, failed: 1, left: 0, conflicts: [], reason: null };
  expect(device.status.lastReport).toMatchObject({ ...told, at: device.now() });
  await device.sync(); // nothing waits
  expect(device.status.lastReport).toMatchObject(told);
  await scanAlone(device, 1, 10);
  at.server.weather = () => 'lost';
  await device.sync();
  expect(device.status.lastReport).toMatchObject({ synced: 0, left: 1, reason: 'server_away' });
});

test('it distinguishes a sync in another tab from one in this tab', async () => {
  const device = await ready(at);
  const other = await at.open();
  await scanAlone(device, 1);
  const first = device.sync();
  const [here, there] = await Promise.all([device.sync(), other.sync()]);
  expect([here.reason, there.reason]).toEqual(['sending', 'busy']);
  expect(await first).toMatchObject({ synced: 1, reason: null });
  expect(device.status.lastReport).toMatchObject({ synced: 1, reason: null });
  expect(other.status.lastReport).toBeNull();
});

test('of two tabs one sends, and both see the result', async () => {
  const device = await ready(at);
  const other = await at.open();
  const ids = await scanAlone(device, 60);
  const reports = await Promise.all([device.sync(), other.sync()]);
  expect(reports.map((report) => report.reason).sort()).toEqual(['busy', null]);
  expect(at.server.callsTo(SYNC)).toHaveLength(2);
  expect(ids.map((id) => at.server.taken.get(id))).toEqual(Array(60).fill(1));
  await expect.poll(() => other.status.pending).toBe(0);
});

test('scans that are made during a delivery are delivered too', async () => {
  const device = await ready(at);
  await scanAlone(device, 5);
  const syncing = device.sync();
  await scanAlone(device, 5, 100);
  await syncing;
  await device.sync();
  expect(at.server.scans.size).toBe(10);
});

test('it stops when nothing waits for it any more, and loses nothing', async () => {
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

test('of what waits for review it is told which and why, sent signed or as a whole', async () => {
  for (const send of ['sync', 'syncWhole'] as const) {
    const device = await ready(at);
    const [, ahead = '', foreign = ''] = await scanAlone(device, 3);
    at.server.unverified.set(ahead, 'from_future').set(foreign, 'foreign_gate');
    const { synced, failed, unverified } = await device[send]();
    expect([synced, failed]).toEqual([3, 0]);
    expect(unverified).toEqual([
      { scan_id: ahead, reason: 'from_future' },
      { scan_id: foreign, reason: 'foreign_gate' },
    ]);
    at = scene();
  }
});

test('the whole queue goes at once and unsigned, and a scan that is not kept there is kept here', async () => {
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

test('the whole queue includes scans that were refused before, and the report comes though nothing is left', async () => {
  const device = await ready(at);
  const [id = ''] = await scanAlone(device, 3);
  at.server.spoilt.set(id, 99);
  expect(await device.sync()).toMatchObject({ synced: 2, failed: 1 });
  expect(await device.syncWhole()).toMatchObject({ synced: 1, failed: 0, left: 0, requests: 1 });
  expect(at.server.taken.get(id)).toBe(1);
  expect(device.status).toMatchObject({ pending: 0, failed: 0 });
  expect(await device.syncWhole()).toMatchObject({ synced: 0, failed: 0, left: 0, reason: null });
});

test('scans for another organisation do not go with the whole queue', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  at.server.organizationId = '0190a1b2-0000-7000-8000-000000000002';
  at.server.tokens.add('another');
  await device.pair('another');
  expect(await device.syncWhole()).toMatchObject({ synced: 0, failed: 0, requests: 0 });
  expect(device.status).toMatchObject({ pending: 0, failed: 1 });
});

test('all failed scans are tried again, also those that no list shows', async () => {
  const device = await ready(at, 120);
  const ids = await scanAlone(device, 120);
  for (const id of ids) at.server.spoilt.set(id, 6);
  await device.sync();
  expect(device.status).toMatchObject({ pending: 0, failed: 120, discarded: 0 });
  await device.retryAll();
  expect(device.status).toMatchObject({ pending: 120, failed: 0 });
  expect(await device.sync()).toMatchObject({ synced: 120, left: 0 });
});

test('of more scans than somebody can import at once there are more files', async () => {
  const device = await ready(at);
  await scanAlone(device, 1);
  const [scan] = await device.queue();
  const database = await openDB(at.databaseName);
  const tx = database.transaction('pending_scans', 'readwrite');
  for (let place = 2; place <= 10_005; place += 1) {
    await tx.store.put({ ...scan, scan_id: crypto.randomUUID(), place });
  }
  await tx.done;
  database.close();
  const files = await device.exportFiles();
  expect(files).toMatchObject([
    { scans: 10_000, isImportable: true },
    { scans: 5, isImportable: true },
  ]);
  const all = (await exported(device)).flatMap((file) => file['scans'] as BroughtScan[]);
  expect(new Set(all.map((each) => each.scan_id)).size).toBe(10_005);
});

test('where nothing waits there is no file', async () => {
  const device = await ready(at);
  expect(await device.exportFiles()).toEqual([]);
});

test('the export has the shape that the server imports', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  await device.scan('ZZZZ-ZZZZ-ZZZZ', 'exit', { offline: true });
  const files = await exported(device);
  expect(files.map(Object.keys)).toEqual([['device_id', 'exported_at', 'scans']]);
  expect((files[0]?.['scans'] as object[]).map(Object.keys)).toEqual([
    [...SIGNED, 'outcome', 'signature', 'direction', 'offset_seconds'],
    [...SIGNED, 'outcome', 'signature', 'direction', 'ticket_code', 'offset_seconds'],
  ]);
  expect(device.status.pending).toBe(2);
});

const SIGNED = ['scan_id', 'ticket_id', 'barcode_hash', 'scanned_at', 'gate_id'];

test('a scan that the device and the server denied is no changed result', async () => {
  const at = scene();
  const device = await ready(at);
  at.server.weather = ({ path }) => (path === '/api/scans' ? 'lost' : 'fine');
  const first = await device.scan(codeOf(3), 'entry');
  const second = await device.scan(codeOf(3), 'entry');
  expect([first.outcome, second.outcome]).toEqual(['valid', 'duplicate']);
  at.server.disputed.push(first.scan_id, second.scan_id);
  const report = await device.sync();
  at.closeAll();
  expect(report.conflicts).toEqual([first.scan_id]);
});

test('changed results of another device are not reported as this one’s', async () => {
  const at = scene();
  const device = await ready(at);
  at.server.weather = ({ path }) => (path === '/api/scans' ? 'lost' : 'fine');
  await device.scan(codeOf(3), 'entry');
  at.server.disputed.push(crypto.randomUUID());
  const report = await device.sync();
  at.closeAll();
  expect(report).toMatchObject({ synced: 1, conflicts: [] });
});
