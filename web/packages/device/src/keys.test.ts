import 'fake-indexeddb/auto';
import { isSignedBy } from '@voelgoed/rules';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from './client.ts';
import { KeyRefused, Refused, ServerAway } from './faults.ts';
import { signedFields } from './ledger.ts';
import { DeviceStore } from './store.ts';
import type { Scene } from './testing.ts';
import { DEVICE_ID, exported, ready, refused, scene } from './testing.ts';
import { codeOf, GATE } from './testing_manifest.ts';

let at: Scene;
beforeEach(() => (at = scene()));
afterEach(() => at.closeAll());

const SYNC = '/api/scanning/sync';
const ROTATIONS = '/api/scanning/key-rotations';

async function onDisk(): Promise<{ state: unknown[]; manifest: unknown }> {
  const store = await DeviceStore.open(at.databaseName);
  const state = [await store.state('identity'), await store.state('rotation')];
  const manifest = await store.manifest();
  store.close();
  return { state, manifest };
}

async function areAllSigned(device: Device): Promise<boolean> {
  const key = device.identity?.api_key ?? '';
  const queue = await device.queue();
  const right = queue.map((scan) => isSignedBy(scan.signature, signedFields(scan), key));
  return (await Promise.all(right)).every(Boolean);
}

test('a device that shows its own challenge collects its key once somebody approved it', async () => {
  const device = await at.open();
  const { token, challenge } = await device.askForApproval();
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  const bytes = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0'));
  expect(challenge).toBe(bytes.join(''));
  expect(await device.collect(token)).toBeNull();
  at.server.tokens.add(token);
  expect(await device.collect(token)).toMatchObject({ device_id: DEVICE_ID, gate_id: GATE });
});

test('a token that is not known is refused with the server’s own code', async () => {
  const device = await at.open();
  const fault = await device.pair('AAAA-AAAA-AAAA').catch((each: unknown) => each);
  expect(fault).toBeInstanceOf(Refused);
  expect(fault).toMatchObject({ code: 'refused', refusal: 'pairing_token_not_found' });
});

test('paired again it names its id, and waiting scans are signed again and go with a new batch', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  at.server.weather = ({ path }) => (path === SYNC ? 'lost' : 'fine');
  await device.sync();
  at.server.weather = () => 'fine';
  at.server.tokens.add('AGAIN-AGAIN-1');
  await device.pair(' AGAIN-AGAIN-1 ');
  expect(at.server.callsTo('/api/scanning/pair').at(-1)?.body['device_id']).toBe(DEVICE_ID);
  expect(await areAllSigned(device)).toBe(true);
  expect(await device.sync()).toMatchObject({ synced: 1, failed: 0 });
  const ids = at.server.callsTo(SYNC).map((call) => call.body['sync_batch_id']);
  expect(ids[0]).not.toBe(ids.at(-1));
  expect(at.server.wrongSignatures).toBe(0);
  expect(device.register).not.toBeNull();
});

test('scans for another organisation are set aside and not delivered to this one', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  const [before] = await device.queue();
  at.server.organizationId = '0190a1b2-0000-7000-8000-000000000002';
  at.server.tokens.add('OTHER-OTHER-1');
  await device.pair('OTHER-OTHER-1');
  expect(await device.queue('failed')).toMatchObject([
    { last_error: 'another_organization', signature: before?.signature },
  ]);
  await device.retry([before?.scan_id ?? '']);
  expect(await device.sync()).toMatchObject({ synced: 0, left: 0, requests: 0 });
});

test('its key is rotated on demand, and waiting scans are signed with the new one', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  const before = device.identity?.api_key;
  at.server.isRotationDue = true;
  await device.beat();
  expect(device.identity?.api_key).toBe(at.server.apiKey);
  expect(device.identity?.api_key).not.toBe(before);
  expect(await areAllSigned(device)).toBe(true);
  expect(await device.sync()).toMatchObject({ synced: 1 });
});

test('a scan changes the key that is to be changed, and is answered by the server all the same', async () => {
  const device = await ready(at);
  const before = device.identity?.api_key;
  at.server.isRotationDue = true;
  expect(await device.scan(codeOf(1), 'entry')).toMatchObject({ colour: 'green', why: 'online' });
  expect(device.identity?.api_key).not.toBe(before);
  expect(device).toMatchObject({ standing: 'active', status: { pending: 0 } });
  const asked = at.server.callsTo('/api/scans').map((call) => call.body['scan_id']);
  expect([asked.length, new Set(asked).size]).toEqual([2, 1]);
});

test.each(['lost', 'unheard', 'slow'] as const)(
  'where the key that is demanded is %s the device decides alone, and no scan is lost',
  async (weather) => {
    const device = await ready(at);
    at.server.isRotationDue = true;
    at.server.weather = ({ path }) => (path === ROTATIONS ? weather : 'fine');
    const answer = await device.scan(codeOf(1), 'entry');
    expect(answer).toMatchObject({ colour: 'yellow', why: 'offline' });
    expect(device.standing).toBe('active');
    at.server.weather = () => 'fine';
    expect(await device.sync()).toMatchObject({ synced: 1, failed: 0, left: 0, reason: null });
    expect(at.server.wrongSignatures).toBe(0);
    expect([...at.server.taken.values()]).toEqual([1]);
    expect(await device.scan(codeOf(2), 'entry')).toMatchObject({ colour: 'green' });
  },
);

test('scans signed with the old key are delivered with the next one', async () => {
  const device = await ready(at);
  for (const number of [1, 2, 3]) await device.scan(codeOf(number), 'entry', { offline: true });
  at.server.isRotationDue = true;
  expect(await device.sync()).toMatchObject({ synced: 3, failed: 0, left: 0, reason: null });
  expect(at.server.wrongSignatures).toBe(0);
});

test('a device that must rotate its key twice in a moment decides alone in between', async () => {
  const device = await ready(at);
  at.server.weather = ({ path }) => {
    if (path === '/api/scans') at.server.isRotationDue = true;
    return 'fine';
  };
  expect(await device.scan(codeOf(1), 'entry')).toMatchObject({ colour: 'yellow', why: 'offline' });
  expect(device.standing).toBe('active');
});

test('a rotation whose answer was lost is repeated under the same id, also after a restart', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  at.server.isRotationDue = true;
  at.server.weather = ({ path }) => (path === ROTATIONS ? 'unheard' : 'fine');
  await expect(device.beat()).rejects.toThrow();
  device.close();
  at.server.weather = () => 'fine';
  const reopened = await at.open();
  expect(await reopened.sync()).toMatchObject({ synced: 1, failed: 0, left: 0 });
  const ids = at.server.callsTo(ROTATIONS).map((call) => call.body['rotation_id']);
  expect(new Set(ids).size).toBe(1);
  expect(reopened.standing).toBe('active');
});

test('while its new key is on its way a device at a gate decides alone', async () => {
  const device = await ready(at);
  at.server.isRotationDue = true;
  at.server.weather = ({ path }) => (path === ROTATIONS ? 'unheard' : 'fine');
  await expect(device.beat()).rejects.toThrow();
  expect(await device.scan(codeOf(1), 'entry')).toMatchObject({ colour: 'yellow', why: 'offline' });
  expect(device.standing).toBe('active');
});

test('a key that changes while a batch is on its way makes nothing fail', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  const other = await at.open();
  let first = true;
  const { fetch } = at.server;
  const slowly = await at.open({
    fetch: async (input, init) => {
      if (String(input) === SYNC && first) {
        first = false;
        at.server.isRotationDue = true;
        await other.beat();
      }
      return await fetch(input, init);
    },
  });
  expect(await slowly.sync()).toMatchObject({ synced: 1, failed: 0, left: 0 });
  expect([...at.server.taken.values()]).toEqual([1]);
});

test('two tabs that must rotate the key rotate it once', async () => {
  const device = await ready(at);
  const other = await at.open();
  at.server.isRotationDue = true;
  at.server.keyVersion = 5;
  at.server.tokens.add('AGAIN-AGAIN-1');
  await device.pair('AGAIN-AGAIN-1');
  await expect.poll(() => other.identity?.api_key).toBe(at.server.apiKey);
  await Promise.all([device.beat(), other.beat()]);
  expect(device.identity?.api_key).toBe(at.server.apiKey);
  await expect.poll(() => other.identity?.api_key).toBe(at.server.apiKey);
  expect(await device.scan(codeOf(1), 'entry')).toMatchObject({ colour: 'green' });
});

test('a tab that has not heard of the new key signs with it all the same', async () => {
  const { BroadcastChannel } = globalThis;
  Reflect.deleteProperty(globalThis, 'BroadcastChannel');
  try {
    const device = await ready(at);
    const deaf = await at.open();
    at.server.isRotationDue = true;
    await device.beat();
    expect(deaf.identity?.api_key).not.toBe(at.server.apiKey);
    await deaf.scan(codeOf(1), 'entry', { offline: true });
    expect(await areAllSigned(device)).toBe(true);
    expect(await deaf.sync()).toMatchObject({ synced: 1, requests: 1 });
  } finally {
    globalThis.BroadcastChannel = BroadcastChannel;
  }
});

test('if somebody else has its next key, it reports that, and keeps its own key and its scans', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  at.server.keyVersion += 1;
  expect(await device.sync()).toMatchObject({ left: 1, reason: 'key_refused' });
  expect(device.standing).toBe('key_rotated');
  expect(device.isRevoked).toBe(false);
  expect(device.identity?.api_key).not.toBeNull();
});

test.each(['sync', 'scan', 'beat', 'hydrate'] as const)(
  'revoked, as a %s tells it: key and manifest are wiped, the queue can be exported',
  async (way) => {
    const device = await ready(at);
    await device.scan(codeOf(1), 'entry', { offline: true });
    at.server.status = 'revoked';
    if (way === 'sync') expect(await device.sync()).toMatchObject({ reason: 'key_refused' });
    else if (way === 'scan')
      await expect(device.scan(codeOf(2), 'entry')).rejects.toThrow(KeyRefused);
    else await expect(device[way]()).rejects.toThrow(KeyRefused);
    expect(device).toMatchObject({ isRevoked: true, register: null, standing: 'revoked' });
    expect(device.identity).toMatchObject({ api_key: null, device_id: DEVICE_ID });
    const { state, manifest } = await onDisk();
    expect(JSON.stringify(state)).not.toContain('vgd_');
    expect(manifest).toBeNull();
    expect(await exported(device)).toMatchObject([
      { device_id: DEVICE_ID, scans: [{ outcome: 'valid' }] },
    ]);
  },
);

test.each(['unauthorized', 'authentication_required', ''])(
  'a 401 “%s” is of somebody on the way, and the key stays what it is',
  async (error) => {
    const device = await ready(at);
    await device.scan(codeOf(1), 'entry', { offline: true });
    at.server.weather = () => refused(401, error);
    await expect(device.beat()).rejects.toThrow(ServerAway);
    await expect(device.hydrate()).rejects.toThrow(ServerAway);
    expect(await device.sync()).toMatchObject({ left: 1, reason: 'server_away' });
    expect(device).toMatchObject({ standing: 'active', isRevoked: false });
    at.server.weather = () => 'fine';
    expect(await device.sync()).toMatchObject({ synced: 1 });
  },
);

test('a revoked device sends nothing, decides nothing, and works again when it is paired again', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  at.server.status = 'revoked';
  await device.sync();
  const calls = at.server.calls.length;
  await expect(device.scan(codeOf(2), 'entry', { offline: true })).rejects.toThrow(KeyRefused);
  expect(await device.sync()).toMatchObject({ left: 1, reason: 'key_refused' });
  expect(at.server.calls).toHaveLength(calls);

  at.server.tokens.add('AGAIN-AGAIN-1');
  await device.pair('AGAIN-AGAIN-1');
  await device.hydrate();
  expect(device).toMatchObject({ isRevoked: false, standing: 'active' });
  expect(await device.sync()).toMatchObject({ synced: 1, left: 0 });
});

test('other tabs hear that the device was revoked', async () => {
  const device = await ready(at);
  const other = await at.open();
  at.server.status = 'revoked';
  await expect(device.beat()).rejects.toThrow(KeyRefused);
  await expect.poll(() => other.isRevoked).toBe(true);
  expect(other.register).toBeNull();
});

test('a refusal of the key that it had before it was paired again wipes nothing', async () => {
  const device = await ready(at);
  const stale = await at.open({
    fetch: async (input, init) => {
      at.server.tokens.add('AGAIN-AGAIN-1');
      await device.pair('AGAIN-AGAIN-1');
      const old = new Headers(init?.headers).get('Authorization') !== `Bearer ${at.server.apiKey}`;
      if (old) return refused(401, 'device_inactive', { status: 'revoked' });
      return await at.server.fetch(input, init);
    },
  });
  await expect(stale.beat()).rejects.toThrow();
  expect(stale.isRevoked).toBe(false);
  expect(device.identity?.api_key).toBe(at.server.apiKey);
});

test('401 of something on the way is no word about the key', async () => {
  const device = await ready(at);
  at.server.weather = () => new Response('<h1>Sign in</h1>', { status: 401 });
  expect(await device.scan(codeOf(1), 'entry')).toMatchObject({ colour: 'yellow' });
  expect(device.standing).toBe('active');
});

test('an inactive device does not try to deliver anything, because that raises an alert', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  at.server.status = 'inactive';
  await device.sync();
  const brought = at.server.callsTo(SYNC).length;
  expect(await device.sync()).toMatchObject({ left: 1, reason: 'key_refused' });
  expect(at.server.callsTo(SYNC)).toHaveLength(brought);
  at.server.status = 'active';
  expect(await device.sync()).toMatchObject({ synced: 1 });
});
