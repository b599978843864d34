import 'fake-indexeddb/auto';
import { openDB } from 'idb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from './client.ts';
import {
  ForgedManifest,
  KeyRefused,
  ServerAway,
  StorageFull,
  UnreadableManifest,
} from './faults.ts';
import type { Scene } from './testing.ts';
import { ready, scene } from './testing.ts';
import { codeOf, deltaOf, manifestOf, OTHER_EVENT, signedBody } from './testing_manifest.ts';

let at: Scene;
beforeEach(() => (at = scene()));
afterEach(() => at.closeAll());

const HEADERS = { headers: { 'Content-Type': 'application/json' } };

function isManifest(path: string): boolean {
  return path.includes('/manifest');
}

/** Instead of the manifest. */
function send(body: string): void {
  at.server.weather = ({ path }) => (isManifest(path) ? new Response(body, HEADERS) : 'fine');
}

async function signed(document: object): Promise<string> {
  return await signedBody(document, at.server.apiKey, 0);
}

async function expectRefused(device: Device, kind: string): Promise<void> {
  const fault = await device.hydrate().catch((each: unknown) => each);
  expect(fault).toBeInstanceOf(ForgedManifest);
  expect(fault).toMatchObject({ kind });
  expect(device.manifest?.version).toBe(1);
  device.close();
  const reopened = await at.open();
  expect(reopened.manifest?.version).toBe(1);
}

test('the manifest comes with progress, is kept, and is there after a start without a network', async () => {
  at.server.tokens.add('7K2M-9QXD-E4TR');
  at.server.manifests = [await manifestOf(1, at.world.ms, 20)];
  const device = await at.open();
  await device.pair('7K2M-9QXD-E4TR');
  const seen: [number, number | null][] = [];
  expect(await device.hydrate((received, total) => seen.push([received, total]))).toBe(true);
  expect(seen.at(-1)?.[0]).toBeGreaterThan(1_000);
  expect(await device.hydrate()).toBe(false);
  device.close();
  at.server.weather = () => 'lost';
  const reopened = await at.open();
  expect(reopened.manifest).toMatchObject({
    version: 1,
    tickets: 20,
    is_stale: false,
    is_expired: false,
    age_ms: 0,
  });
  expect(await reopened.scan(codeOf(7), 'entry')).toMatchObject({ colour: 'yellow' });
});

test('a newer version comes as a delta when the heartbeat announces it', async () => {
  const device = await ready(at);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  await device.beat();
  expect(device.manifest).toMatchObject({ version: 2, tickets: 25 });
  expect(at.server.calls.filter((call) => isManifest(call.path))).toHaveLength(2);
  expect(await device.practise(codeOf(25), 'entry')).toMatchObject({ outcome: 'valid' });
});

test('a delta that does not lead to the stated hash is followed by the whole manifest', async () => {
  const device = await ready(at);
  const next = await manifestOf(2, at.world.ms, 25);
  const delta = await deltaOf(at.server.manifests[0] ?? next, next);
  const wrong = await signed({ ...delta, content_hash: `sha256:${'0'.repeat(64)}` });
  at.server.manifests.push(next);
  at.server.weather = ({ path }) =>
    path.endsWith('since=1') ? new Response(wrong, HEADERS) : 'fine';
  expect(await device.hydrate()).toBe(true);
  expect(device.manifest).toMatchObject({ version: 2, tickets: 25 });
});

test('a manifest that was altered on the way is not kept', async () => {
  const device = await ready(at);
  const body = await signed(await manifestOf(2, at.world.ms, 20));
  send(body.replace('Paris', 'Pariz'));
  await expectRefused(device, 'signature');
});

test('a manifest that was made for another device is not kept', async () => {
  const device = await ready(at);
  send(await signedBody(await manifestOf(2, at.world.ms, 20), 'vgd_somebody_else', 0));
  await expectRefused(device, 'signature');
});

test('a manifest without the key to its codes is not kept', async () => {
  const device = await ready(at);
  const body = await signed(await manifestOf(2, at.world.ms, 20));
  send(body.replace(/"code_key":"[^"]*"/, '"code_key":"AAAA"'));
  await expectRefused(device, 'signature');
});

test('a genuine manifest of another event is not kept', async () => {
  const device = await ready(at);
  send(await signed(await manifestOf(2, at.world.ms, 20, { event_id: OTHER_EVENT })));
  await expectRefused(device, 'another_event');
});

test('a genuine manifest that is older is not kept', async () => {
  const device = await ready(at);
  send(await signed(await manifestOf(0, at.world.ms - 3_600_000, 20)));
  await expectRefused(device, 'older');
});

test('a manifest that arrives in part did not arrive, and nothing is lost', async () => {
  const device = await ready(at);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  at.server.weather = ({ path }) => (isManifest(path) ? 'cut' : 'fine');
  await expect(device.hydrate()).rejects.toThrow(ServerAway);
  at.server.weather = ({ path }) => (isManifest(path) ? 'lost' : 'fine');
  await expect(device.hydrate()).rejects.toThrow(ServerAway);
  at.server.weather = () => 'fine';
  expect(await device.hydrate()).toBe(true);
});

test.each(['<html>Sign in to the Wi-Fi</html>', '{"data":[]}', ''])(
  'what is no manifest at all is nobody’s forgery: %s',
  async (body) => {
    const device = await ready(at);
    send(body);
    await expect(device.hydrate()).rejects.toThrow(ServerAway);
    expect(device.manifest?.version).toBe(1);
  },
);

test('a genuine manifest that this app cannot read leaves the present one', async () => {
  const device = await ready(at);
  const { gates: _, ...strange } = await manifestOf(2, at.world.ms, 20);
  send(await signed(strange));
  await expect(device.hydrate()).rejects.toThrow(UnreadableManifest);
  expect(device.manifest?.version).toBe(1);
});

test('a manifest that does not fit in the storage leaves the present one', async () => {
  const device = await ready(at);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (this: IDBObjectStore, ...given) {
    if (this.name === 'manifest') throw new DOMException('no room', 'QuotaExceededError');
    return put.apply(this, given);
  };
  try {
    await expect(device.hydrate()).rejects.toThrow(StorageFull);
  } finally {
    IDBObjectStore.prototype.put = put;
  }
  expect(device.manifest?.version).toBe(1);
  expect(await device.practise(codeOf(1), 'entry')).toMatchObject({ outcome: 'valid' });
});

test('the list is stale when the server has a newer one, or was silent for long', async () => {
  const device = await ready(at);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  at.server.weather = ({ path }) => (isManifest(path) ? 'lost' : 'fine');
  await expect(device.beat()).rejects.toThrow(ServerAway);
  expect(device.manifest).toMatchObject({ version: 1, is_stale: true });
  at.server.weather = () => 'fine';
  await device.beat();
  expect(device.manifest).toMatchObject({ version: 2, is_stale: false });
  at.world.ms += 31 * 60_000;
  expect(device.manifest?.is_stale).toBe(true);
  await device.beat();
  expect(device.manifest?.is_stale).toBe(false);
});

test('after a restored backup the list with the smaller number is fetched, and the old one is not called fresh', async () => {
  const device = await ready(at);
  at.server.manifests = [await manifestOf(5, at.world.ms, 20)];
  await device.beat();
  expect(device.manifest).toMatchObject({ version: 5, is_stale: false });
  at.world.ms += 60_000;
  at.server.manifests = [await manifestOf(3, at.world.ms, 25)];
  at.server.weather = ({ path }) => (isManifest(path) ? 'lost' : 'fine');
  await expect(device.beat()).rejects.toThrow(ServerAway);
  expect(device.manifest).toMatchObject({ version: 5, is_stale: true });
  at.server.weather = () => 'fine';
  await device.beat();
  expect(device.manifest).toMatchObject({ version: 3, tickets: 25, is_stale: false });
});

test('a list is written where no scan has to wait for it', async () => {
  const device = await ready(at);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  const put = IDBObjectStore.prototype.put;
  const scopes: string[][] = [];
  IDBObjectStore.prototype.put = function (this: IDBObjectStore, ...given) {
    const isList = 'document' in Object(given[0]);
    if (isList) scopes.push([...this.transaction.objectStoreNames]);
    return put.apply(this, given);
  };
  try {
    await device.beat();
  } finally {
    IDBObjectStore.prototype.put = put;
  }
  expect(scopes).toEqual([['manifest']]);
  expect(device.manifest?.version).toBe(2);
});

test('a list that another tab swept away before it counted is laid again', async () => {
  const device = await ready(at);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  const put = IDBObjectStore.prototype.put;
  let swept = 0;
  IDBObjectStore.prototype.put = function (this: IDBObjectStore, ...given) {
    const request = put.apply(this, given);
    if ('document' in Object(given[0]) && swept++ === 0) this.delete(given[1] as string);
    return request;
  };
  try {
    await device.hydrate();
  } finally {
    IDBObjectStore.prototype.put = put;
  }
  expect(swept).toBe(2);
  device.close();
  expect((await at.open()).manifest?.version).toBe(2);
});

test('a list that an earlier version of the app kept is still good', async () => {
  const device = await ready(at);
  device.close();
  const database = await openDB(at.databaseName);
  const [key = ''] = (await database.getAllKeys('manifest')).filter((each) => each !== 'manifest');
  await database.put('manifest', await database.get('manifest', key), 'manifest');
  await database.delete('manifest', key);
  database.close();
  const reopened = await at.open();
  expect(reopened.manifest?.version).toBe(1);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  await reopened.hydrate();
  expect(reopened.manifest?.version).toBe(2);
});

test('a device that is revoked while its list is on the way to the disk keeps none', async () => {
  const device = await ready(at);
  const identity = { ...device.identity, api_key: null };
  const tab = await openDB(at.databaseName);
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  const transaction = IDBDatabase.prototype.transaction;
  let isRevoked = false;
  IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...given) {
    if (!isRevoked && String(given[0]) === 'manifest' && given[1] === 'readwrite') {
      isRevoked = true; // by another tab, in the moment before
      const tx = tab.transaction(['state', 'manifest'], 'readwrite');
      void tx.objectStore('state').put(identity, 'identity');
      void tx.objectStore('manifest').clear();
    }
    return transaction.apply(this, given);
  };
  await expect(
    device.hydrate().finally(() => (IDBDatabase.prototype.transaction = transaction)),
  ).rejects.toThrow(KeyRefused);
  expect(await tab.getAllKeys('manifest')).toEqual([]);
  tab.close();
});

test('other tabs get the manifest that one tab has fetched', async () => {
  const device = await ready(at);
  const other = await at.open();
  at.server.manifests.push(await manifestOf(2, at.world.ms, 25));
  await device.hydrate();
  await expect.poll(() => other.manifest?.version).toBe(2);
});
