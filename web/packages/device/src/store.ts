/**
 * What a device keeps, in IndexedDB. What it has said is on the disk before it says it.
 *
 * Within a transaction nothing may be awaited but the database: a browser ends it otherwise.
 */
import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from 'idb';
import { openDB } from 'idb';
import { DeviceFault, StateUnusable, StorageFull } from './faults.ts';
import type { KeptManifest, State } from './kept.ts';
import { readKeptManifest, readScan, STATE_READERS } from './kept.ts';
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
  manifest: { key: string; value: KeptManifest };
}

type Names = StoreNames<Schema>[];
const STORES: Names = ['pending_scans', 'synced_scans', 'state', 'manifest'];
/** The manifest is large; scans need not wait for it. */
export const SCANS_AND_STATE: Names = ['pending_scans', 'synced_scans', 'state'];

export interface Counts {
  pending: number;
  failed: number;
  discarded: number;
}

export class DeviceStore {
  private constructor(private readonly database: IDBPDatabase<Schema>) {}

  static async open(name: string): Promise<DeviceStore> {
    try {
      const database = await openDB<Schema>(name, SCHEMA_VERSION, {
        upgrade: prepare,
        // A newer version of the app wants to prepare it; this tab has to be loaded anew.
        blocking: (_current, _blocked, event) => (event.target as IDBDatabase).close(),
      });
      return new DeviceStore(database);
    } catch (fault) {
      throw asFault(fault);
    }
  }

  close(): void {
    this.database.close();
  }

  /** All of it or nothing, and on the disk when this resolves. The transaction begins at once. */
  async write<T>(work: (tx: Tx) => Promise<T>, stores: Names = SCANS_AND_STATE): Promise<T> {
    try {
      const tx = this.database.transaction(stores, 'readwrite', { durability: 'strict' });
      try {
        const result = await work(new Tx(tx));
        await tx.done;
        return result;
      } catch (fault) {
        tx.done.catch(() => undefined);
        abort(tx);
        throw fault;
      }
    } catch (fault) {
      throw asFault(fault);
    }
  }

  /** Also of the manifest. */
  writeAll<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.write(work, STORES);
  }

  async state<Name extends keyof State>(name: Name): Promise<State[Name] | null> {
    return await this.reading(async () =>
      STATE_READERS[name](await this.database.get('state', name)),
    );
  }

  async manifest(): Promise<KeptManifest | null> {
    return await this.reading(async () =>
      readKeptManifest(await this.database.get('manifest', MANIFEST)),
    );
  }

  /** Of what the server does not have, in the order in which it was made. */
  async scans(status: SyncStatus, most = Infinity): Promise<LoggedScan[]> {
    const found: LoggedScan[] = [];
    let after = -Infinity;
    while (found.length < most) {
      const range = IDBKeyRange.bound([status, after], [status, Infinity], true);
      const count = Math.min(most - found.length, PAGE_MAX);
      const page: unknown[] = await this.reading(() =>
        this.database.getAllFromIndex('pending_scans', 'by_status', range, count),
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
    const all = await this.reading(() =>
      this.database.getAllFromIndex('pending_scans', 'by_place'),
    );
    return readable(all);
  }

  /** Made after the one of that place, whatever became of them, and the place of the last. */
  async scansAfter(place: number): Promise<{ scans: LoggedScan[]; lastPlace: number }> {
    const range = IDBKeyRange.bound(place, Number.MAX_SAFE_INTEGER, true);
    return await this.reading(async () => {
      const tx = this.database.transaction(['pending_scans', 'synced_scans']);
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
    return await this.reading(async () => {
      const tx = this.database.transaction(['pending_scans', 'synced_scans']);
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
    return await this.reading(async () =>
      readScan(
        (await this.database.get('pending_scans', scanId)) ??
          (await this.database.get('synced_scans', scanId)),
      ),
    );
  }

  async counts(): Promise<Counts> {
    return await this.reading(async () => {
      const index = this.database.transaction('pending_scans').store.index('by_status');
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

  private async reading<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (fault) {
      throw asFault(fault);
    }
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

  async manifest(): Promise<KeptManifest | null> {
    return readKeptManifest(await this.tx.objectStore('manifest').get(MANIFEST));
  }

  async keepManifest(manifest: KeptManifest): Promise<void> {
    await this.tx.objectStore('manifest').put(manifest, MANIFEST);
  }

  async forgetManifest(): Promise<void> {
    await this.tx.objectStore('manifest').delete(MANIFEST);
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

interface ByPlace {
  openKeyCursor(range: IDBKeyRange, direction: 'prev'): Promise<{ readonly key: number } | null>;
}

/** Also of one that cannot be read: its place is taken. 0 where there is none. */
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

function asFault(fault: unknown): unknown {
  if (fault instanceof DeviceFault) return fault;
  const name = fault instanceof Error ? fault.name : '';
  if (name === 'QuotaExceededError') return new StorageFull();
  // Of the database, not of a mistake in this program, which is to be seen as what it is.
  return fault instanceof DOMException ? new StateUnusable(`${name}: ${fault.message}`) : fault;
}
