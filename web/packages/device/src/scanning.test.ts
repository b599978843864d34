import 'fake-indexeddb/auto';
import { momentText, parseMoment } from '@voelgoed/rules';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeyRefused, NoGate, NothingRead, NotPaired, Refused, StorageFull } from './faults.ts';
import type { Scene } from './testing.ts';
import { json, ready, refused, scene } from './testing.ts';
import { codeOf, entryOf, manifestOf, OTHER_EVENT, ticketIdOf } from './testing_manifest.ts';

let at: Scene;
beforeEach(() => (at = scene()));
afterEach(() => at.closeAll());

test('a scan that the server admits is green, and with the server already', async () => {
  const device = await ready(at);
  const answer = await device.scan(codeOf(3), 'entry');
  expect(answer).toMatchObject({
    colour: 'green',
    outcome: 'valid',
    why: 'online',
    ticket_id: ticketIdOf(3),
    entry_number: 1,
    shown: { seat: 'A-3', zone: 'Stalls' },
  });
  expect(device.status.pending).toBe(0);
  expect(await device.recent(5)).toMatchObject([
    { scan_id: answer.scan_id, sync_status: 'synced', place: 1 },
  ]);
});

test('a seat is called the same with a network and without', async () => {
  const device = await ready(at);
  at.server.weather = ({ body }) =>
    json(200, {
      status: 'admitted',
      scan_id: body['scan_id'],
      direction: 'entry',
      scanned_at: at.server.time,
      ticket_id: ticketIdOf(3),
      seat_info: { block_name: 'Stalls', row: 'Third', seat_number: '3', notes: [] },
    });
  const online = await device.scan(codeOf(3), 'entry');
  const offline = await device.scan(codeOf(4), 'entry', { offline: true });
  expect([online.shown.seat, offline.shown.seat]).toEqual(['A-3', 'A-4']);
});

test('a scan that the server denies is red, with the known details of the last one', async () => {
  const device = await ready(at);
  await device.scan(codeOf(3), 'entry');
  const answer = await device.scan(codeOf(3), 'entry');
  expect(answer).toMatchObject({
    colour: 'red',
    outcome: 'duplicate',
    reason: 'already_scanned',
    shown: { last_gate: 'South gate' },
  });
});

test('for a person who left, the server’s answer says when to return', async () => {
  const device = await ready(at);
  const { time } = at.server;
  at.server.weather = ({ body }) =>
    json(200, {
      status: 'denied',
      reason: 'already_scanned',
      scan_id: body['scan_id'],
      direction: 'entry',
      scanned_at: time,
      left_at: '2026-06-05T18:04:00.000000Z',
      may_return_at: '2026-06-05T18:09:00.000000Z',
    });
  expect(await device.scan(codeOf(3), 'entry')).toMatchObject({
    reason: 'already_scanned',
    left_at: parseMoment('2026-06-05T18:04:00.000000Z'),
    may_return_at: parseMoment('2026-06-05T18:09:00.000000Z'),
  });
});

test('for a person who left here and comes again, the device alone says when to return', async () => {
  const device = await ready(at);
  const tickets = [{ ...(await entryOf(3)), entry_limit: null }];
  const manifest = await manifestOf(2, at.world.ms, 0, { tickets });
  at.server.manifests.push(manifest);
  await device.hydrate();
  const entry = await device.scan(codeOf(3), 'entry', { offline: true });
  at.world.ms += 50_000;
  const exit = await device.scan(codeOf(3), 'exit', { offline: true });
  at.world.ms += 10_000;
  const again = await device.scan(codeOf(3), 'entry', { offline: true });
  expect(again).toMatchObject({ reason: 'already_scanned', left_at: exit.at });
  expect(again.may_return_at).toBe(entry.at + manifest.event.dedup_window_s * 1_000_000);
});

test('an unknown ticket is red though the answer is 404', async () => {
  const device = await ready(at);
  const answer = await device.scan('ZZZZ-ZZZZ-ZZZZ', 'entry');
  expect(answer).toMatchObject({ colour: 'red', reason: 'ticket_not_found', why: 'online' });
});

test('a denial for a reason that this app does not know is a denial', async () => {
  const device = await ready(at);
  at.server.weather = ({ body }) =>
    json(200, {
      status: 'denied',
      reason: 'on_the_moon',
      scan_id: body['scan_id'],
      direction: 'entry',
      scanned_at: at.server.time,
    });
  const answer = await device.scan(codeOf(3), 'entry');
  expect(answer).toMatchObject({ colour: 'red', outcome: 'invalid', reason: null });
});

test.each([
  'lost',
  'unheard',
  'cut',
  'slow',
  '503',
  'a page to sign in',
  'an answer to another scan',
] as const)('where the network is %s, the device decides under the same id', async (what) => {
  const device = await ready(at);
  at.server.weather = () => {
    if (what === '503') return refused(503, 'unavailable');
    if (what === 'a page to sign in') return new Response('<html>', { status: 200 });
    if (what === 'an answer to another scan') {
      const scan_id = crypto.randomUUID();
      const said = { status: 'admitted', direction: 'entry', scanned_at: at.server.time };
      return json(200, { ...said, scan_id });
    }
    return what;
  };
  const answer = await device.scan(codeOf(3), 'entry');
  expect(answer).toMatchObject({ colour: 'yellow', outcome: 'valid', why: 'offline' });
  expect(at.server.callsTo('/api/scans')[0]?.body['scan_id']).toBe(answer.scan_id);
  at.server.weather = () => 'fine';
  await device.sync();
  expect(at.server.taken.get(answer.scan_id)).toBe(1);
});

test('a silent network makes two visitors wait; then the device decides at once, and asks again later', async () => {
  const device = await ready(at);
  const asked = () => at.server.callsTo('/api/scans').length;
  at.server.weather = () => 'slow';
  for (const number of [1, 2, 3, 4]) {
    expect(await device.scan(codeOf(number), 'entry')).toMatchObject({ why: 'offline' });
  }
  expect(asked()).toBe(2);
  at.world.ms += 10_000;
  await device.scan(codeOf(5), 'entry');
  expect(asked()).toBe(3);
  at.server.weather = () => 'fine';
  await device.sync();
  expect(await device.scan(codeOf(6), 'entry')).toMatchObject({ why: 'online' });
});

test('alone, a second entry is red because of the first one, also after a restart', async () => {
  const device = await ready(at);
  await device.scan(codeOf(3), 'entry', { offline: true });
  const again = await device.scan(codeOf(3), 'entry', { offline: true });
  expect(again).toMatchObject({ colour: 'red', reason: 'already_scanned', outcome: 'duplicate' });
  device.close();
  const reopened = await at.open();
  const later = await reopened.scan(codeOf(3), 'entry', { offline: true });
  expect(later).toMatchObject({ colour: 'red', reason: 'already_scanned' });
  expect(reopened.status.pending).toBe(3);
});

test('of tabs that scan a ticket at once, one lets it in, in every interleaving', async () => {
  const tabs = [await ready(at), await at.open(), await at.open()];
  for (let ticket = 1; ticket <= 20; ticket += 1) {
    const answers = await Promise.all(
      [...tabs, ...tabs].map((tab) => tab.scan(codeOf(ticket), 'entry', { offline: true })),
    );
    expect(answers.filter((answer) => answer.colour === 'yellow')).toHaveLength(1);
  }
  const places = (await tabs[0]?.queue())?.map((scan) => scan.place);
  expect(places).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
});

test('without a manifest, after its end, or at a gate it does not know: red and recorded', async () => {
  at.server.tokens.add('7K2M-9QXD-E4TR');
  const bare = await at.open();
  await bare.pair('7K2M-9QXD-E4TR');
  const none = await bare.scan(codeOf(1), 'entry', { offline: true });
  expect(none).toMatchObject({ colour: 'red', why: 'no_manifest', outcome: 'invalid' });

  const device = await ready(at);
  at.world.ms += 13 * 3_600_000;
  const late = await device.scan(codeOf(1), 'entry', { offline: true });
  expect(late).toMatchObject({ colour: 'red', why: 'manifest_expired', outcome: 'expired' });
  expect(device.manifest).toMatchObject({ is_expired: true, is_stale: true });

  at.world.ms -= 12 * 3_600_000;
  at.server.gateId = crypto.randomUUID();
  await device.beat();
  const lost = await device.scan(codeOf(1), 'entry', { offline: true });
  expect(lost).toMatchObject({ colour: 'red', why: 'gate_unknown', outcome: 'gate_access_denied' });
  expect(device.status.pending).toBe(3);
});

test('practice records nothing and publishes nothing', async () => {
  const device = await ready(at);
  const calls = at.server.calls.length;
  const answers = [
    await device.practise(codeOf(3), 'entry'),
    await device.practise(codeOf(3), 'entry'),
  ];
  expect(answers.map((answer) => answer.colour)).toEqual(['yellow', 'yellow']);
  expect(await device.recent(5)).toEqual([]);
  expect(at.server.calls).toHaveLength(calls);
});

/** From now on, until the returned function is called. */
function fillDisk(): () => void {
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function () {
    throw new DOMException('no room', 'QuotaExceededError');
  };
  return () => (IDBObjectStore.prototype.put = put);
}

test('with a full disk this device alone lets nobody in', async () => {
  const device = await ready(at);
  const empty = fillDisk();
  try {
    await expect(device.scan(codeOf(3), 'entry', { offline: true })).rejects.toThrow(StorageFull);
  } finally {
    empty();
  }
  expect(await device.recent(5)).toEqual([]);
  const answer = await device.scan(codeOf(3), 'entry', { offline: true });
  expect(answer.colour).toBe('yellow');
  expect(answer.is_unkept).toBeUndefined();
});

test('a person whom the server admitted is let in though the scan cannot be stored, and is known until a restart', async () => {
  const device = await ready(at);
  const empty = fillDisk();
  try {
    const answer = await device.scan(codeOf(3), 'entry');
    expect(answer).toMatchObject({ colour: 'green', why: 'online', is_unkept: true });
    expect([...at.server.taken.keys()]).toEqual([answer.scan_id]);
    const denied = await device.scan(codeOf(3), 'entry');
    expect(denied).toMatchObject({ colour: 'red', reason: 'already_scanned', is_unkept: true });
  } finally {
    empty();
  }
  expect(await device.recent(5)).toEqual([]);
  const again = await device.scan(codeOf(3), 'entry', { offline: true });
  expect(again).toMatchObject({ colour: 'red', reason: 'already_scanned' });
});

test('a disk that is full does not keep a device that is wanted again, or whose clock was set, from the server', async () => {
  const device = await ready(at);
  at.server.status = 'inactive';
  await expect(device.scan(codeOf(3), 'entry')).rejects.toThrow(KeyRefused);
  at.server.status = 'active';
  at.world.skewMs = -60_000;
  const empty = fillDisk();
  try {
    expect(await device.scan(codeOf(3), 'entry')).toMatchObject({ colour: 'green' });
  } finally {
    empty();
  }
});

test('a clock that is ten minutes off is learnt from the refusal, and the scan is decided here', async () => {
  at.world.skewMs = 600_000;
  const device = await ready(at);
  device.close();
  const reopened = await at.open();
  at.world.skewMs = -600_000; // set back while nobody looked
  const answer = await reopened.scan(codeOf(3), 'entry');
  expect(answer).toMatchObject({ colour: 'yellow', why: 'offline' });
  expect(answer.at).toBe(at.world.ms * 1_000);
  expect(reopened.status).toMatchObject({ clockOffsetMs: 600_000, isClockSure: true });
});

test('a clock that is known to be ten minutes off does not keep the device from asking', async () => {
  at.world.skewMs = -600_000;
  const device = await ready(at);
  for (const ticket of [3, 4]) {
    expect(await device.scan(codeOf(ticket), 'entry')).toMatchObject({ colour: 'green' });
  }
  expect(at.server.callsTo('/api/scans')[0]?.body['scanned_at']).toBe(at.server.time);
  const [kept] = await device.recent(1);
  expect(kept?.scanned_at).toBe(momentText(at.world.now() * 1_000));
});

test('where it could not decide alone it waits longer for the server, and asks again after a wait in vain', async () => {
  const waits: number[] = [];
  const timer = (ms: number, then: () => void) => {
    waits.push(ms);
    return at.world.timer(ms, then);
  };
  (await ready(at)).close();
  const device = await at.open({ timer });
  at.server.weather = () => 'slow';
  await device.scan(codeOf(1), 'entry');
  await device.scan(codeOf(2), 'entry');
  await device.scan(codeOf(3), 'entry');
  at.world.ms += 13 * 3_600_000; // its list has expired
  for (const ticket of [4, 5, 6]) {
    const late = await device.scan(codeOf(ticket), 'entry');
    expect(late).toMatchObject({ colour: 'red', why: 'manifest_expired' });
  }
  expect(waits).toEqual([1_500, 1_500, 10_000, 10_000, 10_000]);
  at.server.weather = () => 'fine';
  expect(await device.scan(codeOf(7), 'entry')).toMatchObject({ colour: 'green' });
});

test('without a list, or at a gate that is not in it, it waits as long', async () => {
  const waits: number[] = [];
  const timer = (ms: number, then: () => void) => {
    waits.push(ms);
    return at.world.timer(ms, then);
  };
  at.server.tokens.add('7K2M-9QXD-E4TR');
  const device = await at.open({ timer });
  await device.pair('7K2M-9QXD-E4TR');
  await device.scan(codeOf(1), 'entry');
  at.server.manifests = [await manifestOf(1, at.world.ms, 20)];
  at.server.gateId = crypto.randomUUID();
  await device.beat();
  await device.scan(codeOf(2), 'entry');
  expect(waits.filter((ms) => ms <= 10_000)).toEqual([10_000, 10_000]);
});

test.each([
  [400, 'invalid_json'],
  [401, 'sign_in_to_the_wifi'],
  [405, 'method_not_allowed'],
  [408, 'body_too_slow'],
  [409, 'scan_id_reused'],
  [413, 'body_too_large'],
  [415, 'unsupported_media_type'],
  [422, 'invalid_request'],
  [429, 'rate_limited'],
])('a refusal with %i %s is no verdict: the device decides', async (status, error) => {
  const device = await ready(at);
  at.server.weather = () => refused(status, error);
  const answer = await device.scan(codeOf(3), 'entry');
  expect(answer).toMatchObject({ colour: 'yellow', why: 'offline' });
  expect(device.standing).toBe('active');
});

test('a text that is too long is cut between characters, online and with the whole queue', async () => {
  const device = await ready(at);
  const text = 'x'.repeat(299) + '😀'.repeat(5);
  await device.scan(text, 'entry');
  await device.scan(text, 'entry', { offline: true });
  await device.syncWhole();
  const [asked, brought] = at.server.callsTo('/api/scans').map(({ body }) => body);
  expect(asked?.['ticket_code']).toBe('x'.repeat(299) + '😀');
  expect(brought?.['scans']).toMatchObject([{ ticket_code: 'x'.repeat(299) + '😀' }]);
});

test('a person whom the server denies is shown with the seat that the list has', async () => {
  const device = await ready(at);
  at.server.weather = ({ body }) =>
    json(200, {
      status: 'denied',
      reason: 'already_scanned',
      scan_id: body['scan_id'],
      direction: 'entry',
      scanned_at: at.server.time,
      last_scanned_at: at.server.time,
      last_gate_name: 'South gate',
    });
  expect(await device.scan(codeOf(1), 'entry')).toMatchObject({
    colour: 'red',
    ticket_id: null,
    shown: { seat: 'A-1', zone: 'Stalls', notes: ['Wheelchair place'], last_gate: 'South gate' },
  });
  expect(await device.scan('ZZZZ-ZZZZ-ZZZZ', 'entry')).toMatchObject({ shown: { seat: null } });
});

test('no code, an unpaired device and a device without a gate are distinguished', async () => {
  const nobodys = await at.open();
  await expect(nobodys.scan(codeOf(1), 'entry')).rejects.toThrow(NotPaired);
  const device = await ready(at);
  await expect(device.scan('  \n', 'entry')).rejects.toThrow(NothingRead);
  at.server.gateId = null;
  at.server.eventId = null;
  await device.beat();
  await expect(device.scan(codeOf(1), 'entry', { offline: true })).rejects.toThrow(NoGate);
  at.server.weather = () => refused(403, 'device_not_assigned_to_gate');
  await expect(device.scan(codeOf(1), 'entry')).rejects.toThrow(Refused);
});

test('an inactive device reports that, also without a network, until it is active', async () => {
  const device = await ready(at);
  at.server.status = 'inactive';
  await expect(device.scan(codeOf(1), 'entry')).rejects.toThrow(KeyRefused);
  expect(device.standing).toBe('inactive');
  expect(device.identity?.api_key).toBe(at.server.apiKey);
  at.server.weather = () => 'lost';
  await expect(device.scan(codeOf(1), 'entry')).rejects.toThrow(KeyRefused);
  at.server.weather = () => 'fine';
  at.server.status = 'active';
  expect((await device.scan(codeOf(1), 'entry')).colour).toBe('green');
  expect(device.standing).toBe('active');
});

test('a device that was moved forgets the other event’s manifest and keeps its scans', async () => {
  const device = await ready(at);
  await device.scan(codeOf(3), 'entry', { offline: true });
  at.server.eventId = OTHER_EVENT;
  at.server.manifests = [];
  await device.beat();
  expect(device.register).toBeNull();
  expect(device.identity?.event_id).toBe(OTHER_EVENT);
  expect(device.status.pending).toBe(1);
});
