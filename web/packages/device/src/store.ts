/**
 * What a device keeps, in IndexedDB. What it has said is on the disk before it says it.
 *
 * Within a transaction nothing may be awaited but the database: a browser ends it otherwise.
 */
import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
import { openDB } from 'idb';
import { DeviceFault, StateLost, StateUnusable, StorageFull } from './faults.ts';
import type { KeptManifest, ManifestHead, State } from './kept.ts';
import { readKeptManifest, readManifestHead, readScan, STATE_READERS } from './kept.ts';
import type { LoggedScan, SyncStatus } from './model.ts';

const SCHEMA_VERSION = 1;
const MANIFEST = 'manifest';
/** Read at once, where some of them may have to be passed over. */
const PAGE_MAX = 1_000;

interface Schema extends DBSchema {
  /** What the server does not have. */
  pending_scans: {
    key: string;
    value: LoggedScan;
    indexes: { by_place: number; by_status: [string, number] };
  };
  /** What it has. */
  synced_scans: { key: string; value: LoggedScan; indexes: { by_place: number } };
  state: { key: string; value: unknown };
  /** Manifests under keys of their own, and which of them counts. */
  manifest: { key: string; value: KeptManifest | ManifestHead };
}

type Database = IDBPDatabase<Schema>;
type Names = StoreNames<Schema>[];
const STORES: Names = ['pending_scans', 'synced_scans', 'state', 'manifest'];
/** The manifest is large; scans need not wait for it. */
export const SCANS_AND_STATE: Names = ['pending_scans', 'synced_scans', 'state'];
/** Who the device is, and what it decides by. */
export const STATE_AND_MANIFEST: Names = ['state', 'manifest'];

export interface Counts {
  pending: number;
  failed: number;
  discarded: number;
}

export class DeviceStore {
  private isClosed = false;
  private reopening: Promise<void> | null = null;

  private constructor(
    private readonly name: string,
    private database: Database,
  ) {}

  static async open(name: string): Promise<DeviceStore> {
    try {
      return new DeviceStore(name, await opened(name));
    } catch (fault) {
      throw asFault(fault);
    }
  }

  close(): void {
    this.isClosed = true;
    this.database.close();
  }

  /** All of it or nothing, and on the disk when this resolves. The transaction begins at once. */
  write<T>(work: (tx: Tx) => Promise<T>, stores: Names = SCANS_AND_STATE): Promise<T> {
    return this.using((database) => written(database, stores, work));
  }

  /** Also of the manifest. */
  writeAll<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write(work, STORES);
  }

  /**
   * With the database, and if that was closed under the app, once more with a new connection: phones do
   * so to apps that were in the background. Nobody need be told before the next use, so nobody listens
   * for it. What failed at its very end may be on the disk all the same: a scan is looked for before it
   * is written again.
   */
  private async using<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = this.database;
    try {
      return await work(database);
    } catch (fault) {
      if (this.isClosed || !isConnectionLost(fault)) throw asFault(fault);
    }
    try {
      return await work(await this.reopened(database));
    } catch (fault) {
      throw asFaultOfLost(fault);
    }
  }

  private async reopened(lost: Database): Promise<Database> {
    if (this.database === lost) {
      this.reopening ??= this.reopen().finally(() => (this.reopening = null));
      await this.reopening;
    }
    return this.database;
  }

  private async reopen(): Promise<void> {
    this.database.close();
    this.database = await opened(this.name);
    if (this.isClosed) this.database.close();
  }

  async state<Name extends keyof State>(name: Name): Promise<State[Name] | null> {
    return await this.using(async (database) =>
      STATE_READERS[name](await database.get('state', name)),
    );
  }

  async manifest(): Promise<KeptManifest | null> {
    return await this.using(async (database) => {
      const { store } = database.transaction('manifest');
      const head: unknown = await store.get(MANIFEST);
      const key = readManifestHead(head)?.key;
      return readKeptManifest(key === undefined ? head : await store.get(key));
    });
  }

  /**
   * Beside the one that counts, under a key that nobody knows yet; `Tx.chooseManifest` makes it count.
   *
   * It is megabytes, so it is written in a transaction that no scan has to wait for. What a device
   * decides by is never half of one and half of another: each lies under a key of its own and is never
   * changed, and one small record names the one that counts. That record is written when the manifest
   * is on the disk already, together with the check that it is still wanted. Whoever is killed between
   * the two has the old one, and a new one that no record names; the next start removes that.
   */
  async layManifest(manifest: KeptManifest): Promise<string> {
    const key = crypto.randomUUID();
    await this.write((tx) => tx.layManifest(manifest, key), ['manifest']);
    return key;
  }

  /** Those that no record names. Whoever was about to choose one of them lays it again. */
  async sweepManifests(): Promise<void> {
    await this.write((tx) => tx.sweepManifests(), ['manifest']);
  }

  /** Of what the server does not have, in the order in which it was made. */
  async scans(status: SyncStatus, most = Infinity): Promise<LoggedScan[]> {
    const found: LoggedScan[] = [];
    let after = -Infinity;
    while (found.length < most) {
      const range = IDBKeyRange.bound([status, after], [status, Infinity], true);
      const count = Math.min(most - found.length, PAGE_MAX);
      const page: unknown[] = await this.using((database) =>
        database.getAllFromIndex('pending_scans', 'by_status', range, count),
      );
      found.push(...readable(page));
      if (page.length < count) break;
      // By the index, every one of them has a number there, whatever else is wrong with it.
      after = (page.at(-1) as LoggedScan).place;
    }
    return found;
  }

  /** All that the server does not have. */
  async waiting(): Promise<LoggedScan[]> {
    const all = await this.using((database) =>
      database.getAllFromIndex('pending_scans', 'by_place'),
    );
    return readable(all);
  }

  /** The same as it is on the disk, also what cannot be read here. */
  async rowsWaiting(): Promise<unknown[]> {
    return await this.using((database) => database.getAll('pending_scans'));
  }

  /** Made after the one of that place, whatever became of them, and the place of the last. */
  async scansAfter(place: number): Promise<{ scans: LoggedScan[]; lastPlace: number }> {
    const range = IDBKeyRange.bound(place, Number.MAX_SAFE_INTEGER, true);
    return await this.using(async (database) => {
      const tx = database.transaction(['pending_scans', 'synced_scans']);
      const pendingScans = tx.objectStore('pending_scans').index('by_place');
      const syncedScans = tx.objectStore('synced_scans').index('by_place');
      const [waiting, synced, lastPlace] = await Promise.all([
        pendingScans.getAll(range),
        syncedScans.getAll(range),
        lastPlaceIn(pendingScans, syncedScans),
      ]);
      return { scans: inOrder(readable([...waiting, ...synced])), lastPlace };
    });
  }

  /** The newest first. Nobody is fetched one by one: a list must not keep a verdict waiting. */
  async recent(most: number): Promise<LoggedScan[]> {
    return await this.using(async (database) => {
      const tx = database.transaction(['pending_scans', 'synced_scans']);
      const pendingScans = tx.objectStore('pending_scans').index('by_place');
      const syncedScans = tx.objectStore('synced_scans').index('by_place');
      const last = await lastPlaceIn(pendingScans, syncedScans);
      const newest = IDBKeyRange.bound(last - most, last, true);
      const [waiting, synced] = await Promise.all([
        pendingScans.getAll(newest),
        syncedScans.getAll(newest),
      ]);
      return inOrder(readable([...waiting, ...synced])).reverse();
    });
  }

  async scan(scanId: string): Promise<LoggedScan | null> {
    return await this.using(async (database) =>
      readScan(
        (await database.get('pending_scans', scanId)) ??
          (await database.get('synced_scans', scanId)),
      ),
    );
  }

  async counts(): Promise<Counts> {
    return await this.using(async (database) => {
      const index = database.transaction('pending_scans').store.index('by_status');
      const of = (status: SyncStatus) =>
        index.count(IDBKeyRange.bound([status, -Infinity], [status, Infinity]));
      const [pending, failed, discarded] = await Promise.all([
        of('pending'),
        of('failed'),
        of('discarded'),
      ]);
      return { pending, failed, discarded };
    });
  }
}

/** What can be done within a transaction. */
export class Tx {
  constructor(private readonly tx: IDBPTransaction<Schema, Names, 'readwrite'>) {}

  async state<Name extends keyof State>(name: Name): Promise<State[Name] | null> {
    return STATE_READERS[name](await this.tx.objectStore('state').get(name));
  }

  async keep<Name extends keyof State>(name: Name, value: State[Name]): Promise<void> {
    await this.tx.objectStore('state').put(value, name);
  }

  async forget(name: keyof State): Promise<void> {
    await this.tx.objectStore('state').delete(name);
  }

  async manifestHead(): Promise<ManifestHead | null> {
    return readManifestHead(await this.tx.objectStore('manifest').get(MANIFEST));
  }

  async layManifest(manifest: KeptManifest, key: string): Promise<void> {
    await this.tx.objectStore('manifest').put(manifest, key);
  }

  /** From now on this one counts. False where it is not there any more. */
  async chooseManifest(head: Required<ManifestHead>): Promise<boolean> {
    const manifests = this.tx.objectStore('manifest');
    if ((await manifests.getKey(head.key)) === undefined) return false;
    await manifests.put(head, MANIFEST);
    await this.sweepManifests();
    return true;
  }

  async sweepManifests(): Promise<void> {
    const manifests = this.tx.objectStore('manifest');
    const chosen = (await this.manifestHead())?.key;
    const keys = await manifests.getAllKeys();
    const others = keys.filter((key) => key !== MANIFEST && key !== chosen);
    await Promise.all(others.map((key) => manifests.delete(key)));
  }

  /** Also one that was laid and not chosen yet. */
  async forgetManifest(): Promise<void> {
    await this.tx.objectStore('manifest').clear();
  }

  /** Of the scan that was made last; 0 where there is none. */
  lastPlace(): Promise<number> {
    return lastPlaceIn(
      this.tx.objectStore('pending_scans').index('by_place'),
      this.tx.objectStore('synced_scans').index('by_place'),
    );
  }

  async scan(scanId: string): Promise<LoggedScan | null> {
    return readScan(
      (await this.tx.objectStore('pending_scans').get(scanId)) ??
        (await this.tx.objectStore('synced_scans').get(scanId)),
    );
  }

  async waiting(): Promise<LoggedScan[]> {
    return readable(await this.tx.objectStore('pending_scans').index('by_place').getAll());
  }

  async synced(): Promise<LoggedScan[]> {
    return readable(await this.tx.objectStore('synced_scans').index('by_place').getAll());
  }

  /** In the one store where it belongs. */
  async put(scan: LoggedScan): Promise<void> {
    const [to, from] =
      scan.sync_status === 'synced'
        ? (['synced_scans', 'pending_scans'] as const)
        : (['pending_scans', 'synced_scans'] as const);
    await this.tx.objectStore(to).put(scan);
    await this.tx.objectStore(from).delete(scan.scan_id);
  }

  async forgetSynced(scanIds: string[]): Promise<void> {
    const store = this.tx.objectStore('synced_scans');
    await Promise.all(scanIds.map((scanId) => store.delete(scanId)));
  }
}

async function opened(name: string): Promise<Database> {
  return await openDB<Schema>(name, SCHEMA_VERSION, {
    upgrade: prepare,
    // A newer version of the app wants to prepare it; this tab has to be loaded anew.
    blocking: (_current, _blocked, event) => (event.target as IDBDatabase).close(),
  });
}

async function written<T>(
  database: Database,
  stores: Names,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const tx = database.transaction(stores, 'readwrite', { durability: 'strict' });
  try {
    const result = await work(new Tx(tx));
    await tx.done;
    return result;
  } catch (fault) {
    const ended = tx.done.then(
      () => fault,
      (reason: unknown) => reason,
    );
    abort(tx);
    // Of one that the browser ended, such as for want of room, its end tells the reason.
    throw nameOf(fault) === 'AbortError' ? await ended : fault;
  }
}

interface ByPlace {
  openKeyCursor(range: IDBKeyRange, direction: 'prev'): Promise<{ readonly key: number } | null>;
}

/** The size of a manifest, also of an unreadable one, because it takes space. 0 where there is none. */
async function lastPlaceIn(...indexes: ByPlace[]): Promise<number> {
  const numbers = IDBKeyRange.upperBound(Number.MAX_SAFE_INTEGER);
  const last = await Promise.all(indexes.map((index) => index.openKeyCursor(numbers, 'prev')));
  return Math.max(0, ...last.map((cursor) => cursor?.key ?? 0));
}

function prepare(database: IDBPDatabase<Schema>): void {
  const pending = database.createObjectStore('pending_scans', { keyPath: 'scan_id' });
  pending.createIndex('by_place', 'place');
  pending.createIndex('by_status', ['sync_status', 'place']);
  const synced = database.createObjectStore('synced_scans', { keyPath: 'scan_id' });
  synced.createIndex('by_place', 'place');
  database.createObjectStore('state');
  database.createObjectStore('manifest');
}

function readable(found: readonly unknown[]): LoggedScan[] {
  return found.map(readScan).filter((scan) => scan !== null);
}

function inOrder(scans: LoggedScan[]): LoggedScan[] {
  return scans.sort((one, other) => one.place - other.place);
}

function abort(tx: { abort(): void }): void {
  try {
    tx.abort();
  } catch {
    // It has ended already.
  }
}

/** The connection was closed: by a newer tab, or by the browser, with whatever was under way. */
function isConnectionLost(fault: unknown): boolean {
  const isOfDatabase = fault instanceof DOMException;
  return isOfDatabase && ['InvalidStateError', 'UnknownError', 'AbortError'].includes(fault.name);
}

function asFault(fault: unknown): unknown {
  if (fault instanceof DeviceFault) return fault;
  if (nameOf(fault) === 'QuotaExceededError') return new StorageFull();
  // Of the database, not of a mistake in this program, which is to be seen as what it is.
  return fault instanceof DOMException ? new StateUnusable(textOf(fault)) : fault;
}

/** Also with a new connection, or there was none to be had: a newer version of the app has it. */
function asFaultOfLost(fault: unknown): unknown {
  const known = asFault(fault);
  return known instanceof StateUnusable ? new StateLost(textOf(fault)) : known;
}

function nameOf(fault: unknown): string {
  return fault instanceof Error ? fault.name : '';
}

function textOf(fault: unknown): string {
  return fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault);
}
