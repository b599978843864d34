import 'fake-indexeddb/auto';
import { forceCloseDatabase } from 'fake-indexeddb';
import { openDB } from 'idb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StateLost, StateUnusable } from './faults.ts';
import type { Scene } from './testing.ts';
import { exported, ready, scene } from './testing.ts';
import { codeOf, manifestOf } from './testing_manifest.ts';

let at: Scene;
beforeEach(() => (at = scene()));
afterEach(() => at.closeAll());

async function put(store: string, value: unknown, key?: string): Promise<void> {
  const database = await openDB(at.databaseName);
  await database.put(store, value, key);
  database.close();
}

test('a scan that cannot be read hides no other, and is left where it is', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  await put('pending_scans', { scan_id: 'strange', sync_status: 'pending', place: 2 });
  await put('pending_scans', { scan_id: 'stranger', place: 'last' });
  device.close();
  const reopened = await at.open();
  const answer = await reopened.scan(codeOf(1), 'entry', { offline: true });
  expect(answer).toMatchObject({ colour: 'red', reason: 'already_scanned' });
  expect((await reopened.queue()).map((scan) => scan.place)).toEqual([1, 3]);
  expect(await reopened.sync()).toMatchObject({ synced: 2, reason: null });
  const database = await openDB(at.databaseName);
  expect((await database.getAllKeys('pending_scans')).sort()).toEqual(['strange', 'stranger']);
  database.close();
});

test('state that cannot be read is as if it were not there', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  for (const name of ['clock', 'outgoing', 'rotation', 'station', 'last_sync', 'standing']) {
    await put('state', { is: 'of another time' }, name);
  }
  await put('manifest', { document: 'text' }, 'manifest');
  device.close();
  const reopened = await at.open();
  expect(reopened.register).toBeNull();
  expect(await reopened.sync()).toMatchObject({ synced: 1 });
  expect(await reopened.hydrate()).toBe(true);
});

test('a damaged manifest is fetched again', async () => {
  const device = await ready(at);
  const kept = { code_key: new Uint8Array(32), event_id: device.identity?.event_id };
  const damaged = { ...kept, document: new Uint8Array(9), generated_at: at.server.time };
  await put('manifest', damaged, 'manifest');
  device.close();
  const reopened = await at.open();
  expect(reopened.register).toBeNull();
  at.world.ms += 1_000;
  at.server.manifests.push(await manifestOf(2, at.world.ms, 20));
  expect(await reopened.hydrate()).toBe(true);
});

test('an identity that cannot be read asks for pairing, and the queue is still there', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  await put('state', 'nobody', 'identity');
  device.close();
  const reopened = await at.open();
  expect(reopened.identity).toBeNull();
  expect(reopened.status.pending).toBe(1);
  at.server.tokens.add('AGAIN-AGAIN-1');
  await reopened.pair('AGAIN-AGAIN-1');
  expect(await reopened.sync()).toMatchObject({ synced: 1 });
});

test('delivered scans are kept for the list, the newest five hundred of them', async () => {
  const device = await ready(at);
  for (let count = 0; count < 510; count += 1) {
    await device.scan(`nothing ${count}`, 'entry', { offline: true });
  }
  await device.sync();
  expect(await device.recent(1_000)).toHaveLength(510);
  at.world.ms += 60_000;
  at.server.manifests.push(await manifestOf(2, at.world.ms, 20));
  await device.hydrate();
  const recent = await device.recent(1_000);
  expect(recent).toHaveLength(500);
  expect(recent[0]?.place).toBe(510);
});

test('the newest scans are listed first, whether the server has them or not', async () => {
  const device = await ready(at);
  for (const ticket of [1, 2]) await device.scan(codeOf(ticket), 'entry', { offline: true });
  await device.sync();
  for (const ticket of [3, 4]) await device.scan(codeOf(ticket), 'entry', { offline: true });
  const recent = await device.recent(3);
  expect(recent.map((scan) => [scan.place, scan.sync_status])).toEqual([
    [4, 'pending'],
    [3, 'pending'],
    [2, 'synced'],
  ]);
});

test('a device that was closed reports that its state cannot be used', async () => {
  const device = await ready(at);
  device.close();
  const fault = device.scan(codeOf(1), 'entry', { offline: true });
  await expect(fault).rejects.toThrow(StateUnusable);
});

/** Those through which something is written or read from now on, until `restore` is called. */
function watchDatabases() {
  const transaction = IDBDatabase.prototype.transaction;
  const seen = new Set<IDBDatabase>();
  IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...given) {
    seen.add(this);
    return transaction.apply(this, given);
  };
  return { seen, restore: () => (IDBDatabase.prototype.transaction = transaction) };
}

test('a database that the browser closed under the app is opened again, and nothing is lost', async () => {
  const device = await ready(at);
  const { seen, restore } = watchDatabases();
  await device.scan(codeOf(1), 'entry', { offline: true });
  restore();
  for (const database of seen) forceCloseDatabase(database as never);
  const codes = [codeOf(1), codeOf(2)];
  const answers = await Promise.all(
    codes.map((code) => device.scan(code, 'entry', { offline: true })),
  );
  expect(answers.map((answer) => answer.colour)).toEqual(['red', 'yellow']);
  expect(await device.sync()).toMatchObject({ synced: 3, left: 0, reason: null });
});

test('a scan of which the browser did not say whether it was written is there once', async () => {
  const device = await ready(at);
  const transaction = IDBDatabase.prototype.transaction;
  let isLost = true;
  IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...given) {
    const tx = transaction.apply(this, given);
    if (given[1] === 'readwrite' && isLost) loseItsEnd(tx);
    isLost = false;
    return tx;
  };
  const answer = await device
    .scan(codeOf(1), 'entry', { offline: true })
    .finally(() => (IDBDatabase.prototype.transaction = transaction));
  expect(answer).toMatchObject({ colour: 'yellow' });
  expect(await device.queue()).toMatchObject([{ scan_id: answer.scan_id }]);
});

/** The scan is written, and the caller is told that the connection was lost. */
function loseItsEnd(tx: IDBTransaction): void {
  const listen = tx.addEventListener.bind(tx) as EventTarget['addEventListener'];
  const hear = (type: string, listener: EventListener) => {
    if (type !== 'abort') return;
    listen('complete', (event) => {
      Object.defineProperty(tx, 'error', { value: new DOMException('lost', 'UnknownError') });
      listener(event);
    });
  };
  tx.addEventListener = hear as typeof tx.addEventListener;
}

test('where a newer version of the app has the database, it asks for a restart of the app', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  const newer = await openDB(at.databaseName, 2);
  const fault = device.scan(codeOf(2), 'entry', { offline: true });
  await expect(fault).rejects.toThrow(StateLost);
  expect(await newer.count('pending_scans')).toBe(1);
  newer.close();
  const online = await device.scan(codeOf(2), 'entry');
  expect(online).toMatchObject({ colour: 'green', is_unkept: true });
});

test('a scan of which this version cannot read all is exported all the same', async () => {
  const device = await ready(at);
  await device.scan(codeOf(1), 'entry', { offline: true });
  const [scan] = await device.queue();
  await put('pending_scans', { ...scan, scan_id: 'newer', reason: 'a_newer_reason', place: 2 });
  const strange = { scan_id: 'strange', sync_status: 'pending', place: 3 };
  await put('pending_scans', strange);
  await put('pending_scans', { scan_id: 'stranger' });
  expect(await exported(device)).toMatchObject([
    { scans: [{ scan_id: scan?.scan_id }, { scan_id: 'newer', signature: scan?.signature }] },
    { unreadable: [strange, { scan_id: 'stranger' }] },
  ]);
  expect((await device.exportFiles()).map((file) => [file.scans, file.isImportable])).toEqual([
    [2, true],
    [2, false],
  ]);
});
