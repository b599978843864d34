/** A device that is killed at any step, with any network, loses nothing and delivers nothing twice. */
import 'fake-indexeddb/auto';
import { openDB } from 'idb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Device } from './client.ts';
import type { ScanAnswer } from './model.ts';
import type { Scene, Weather } from './testing.ts';
import { ready, refused, scene } from './testing.ts';
import { codeOf, manifestOf } from './testing_manifest.ts';

let at: Scene;
let restore = () => {};
beforeEach(() => (at = scene()));
afterEach(() => {
  restore();
  at.closeAll();
});

const WALKS = 25;
const STEPS = 12;

class Killed extends Error {}

/** After so many transactions and requests nothing happens any more. */
class Fuse {
  left = Infinity;
  private readonly transaction = IDBDatabase.prototype.transaction;

  constructor() {
    const fuse = this;
    IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...given) {
      fuse.burn();
      return fuse.transaction.apply(this, given);
    };
    restore = () => (IDBDatabase.prototype.transaction = this.transaction);
  }

  burn(): void {
    this.left -= 1;
    if (this.left < 0) throw new Killed();
  }

  readonly fetch: typeof fetch = async (input, init) => {
    this.burn();
    const answer = await at.server.fetch(input, init);
    this.burn();
    return answer;
  };
}

/** The same numbers for the same seed (mulberry32). */
function lucky(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

async function tryTo<T>(work: () => Promise<T>): Promise<T | null> {
  return await work().catch(() => null);
}

async function expectAllOnce(device: Device, told: ScanAnswer[]): Promise<void> {
  expect(device.status).toMatchObject({ pending: 0, failed: 0 });
  const kept = (await device.recent(1_000)).map((scan) => scan.scan_id);
  for (const { scan_id } of told) expect(kept).toContain(scan_id);
  expect([...at.server.taken.keys()].sort()).toEqual(expect.arrayContaining([...kept].sort()));
  expect(new Set(at.server.taken.values())).toEqual(new Set([1]));
  expect(at.server).toMatchObject({ reusedBatchIds: 0, wrongSignatures: 0 });
  const letInAlone = told.filter((each) => each.colour === 'yellow').map((each) => each.ticket_id);
  expect(letInAlone).toEqual([...new Set(letInAlone)]);
}

test('killed after any one step of a sync, the next sync delivers the rest', async () => {
  const first = await ready(at);
  first.close();
  const fuse = new Fuse();
  let ticket = 0;
  for (let step = 0, isWhole = false; !isWhole; step += 1) {
    fuse.left = Infinity;
    const device = await at.open({ fetch: fuse.fetch });
    const told: ScanAnswer[] = [];
    for (let count = 0; count < 3; count += 1) {
      ticket += 1;
      told.push(await device.scan(codeOf(ticket), 'entry', { offline: true }));
    }
    fuse.left = step;
    await tryTo(() => device.sync());
    isWhole = fuse.left > 0;
    fuse.left = Infinity;
    device.close();
    const next = await at.open({ fetch: fuse.fetch });
    expect(await next.sync()).toMatchObject({ left: 0, reason: null });
    await expectAllOnce(next, told);
    next.close();
  }
});

test('killed after any one step of fetching a list, it has the old one or the new one, whole', async () => {
  (await ready(at)).close();
  const fuse = new Fuse();
  const versions = new Set<number | undefined>();
  let version = 1;
  for (let step = 0, isWhole = false; !isWhole; step += 1) {
    version += 1;
    at.world.ms += 1_000;
    at.server.manifests.push(await manifestOf(version, at.world.ms, 20 + version));
    fuse.left = Infinity;
    const device = await at.open({ fetch: fuse.fetch });
    const before = device.manifest?.version;
    fuse.left = step;
    await tryTo(() => device.hydrate());
    isWhole = fuse.left > 0;
    fuse.left = Infinity;
    device.close();
    const next = await at.open({ fetch: fuse.fetch });
    const has = next.manifest;
    expect([before, version]).toContain(has?.version);
    expect(has?.tickets).toBe(has?.version === 1 ? 20 : 20 + (has?.version ?? 0));
    versions.add((has?.version ?? 0) - version);
    expect(await listsOnDisk()).toBe(1);
    next.close();
  }
  expect(versions.size).toBeGreaterThan(1);
});

async function listsOnDisk(): Promise<number> {
  const database = await openDB(at.databaseName);
  const keys = await database.getAllKeys('manifest');
  database.close();
  return keys.filter((key) => key !== 'manifest').length;
}

test.each(Array.from({ length: WALKS }, (_, seed) => [seed]))(
  'a walk of kills, weathers, keys and tabs with seed %i ends with every scan there once',
  async (seed) => {
    const random = lucky(seed);
    const choose = <T>(...from: T[]) => from[Math.floor(random() * from.length)] as T;
    (await ready(at)).close();
    const fuse = new Fuse();
    const told: ScanAnswer[] = [];
    const weather = () =>
      random() < 0.6 ? 'fine' : choose<Weather>('lost', 'unheard', 'cut', 'slow', busy(), down());
    for (let step = 0; step < STEPS; step += 1) {
      fuse.left = Infinity;
      at.server.weather = () => 'fine';
      const tabs = [await at.open({ fetch: fuse.fetch, random })];
      if (random() < 0.4) tabs.push(await at.open({ fetch: fuse.fetch, random }));
      at.server.weather = weather;
      if (random() < 0.2) at.server.isRotationDue = true;
      if (random() < 0.2) at.world.skewMs += choose(-60_000, -5_000, 5_000, 60_000);
      fuse.left = random() < 0.7 ? Math.floor(random() * 60) : Infinity;
      await Promise.all(tabs.map((device) => live(device, random, told)));
      tabs.forEach((device) => device.close());
    }
    fuse.left = Infinity;
    at.server.weather = () => 'fine';
    const device = await at.open({ fetch: fuse.fetch });
    expect(await device.sync()).toMatchObject({ left: 0, reason: null });
    await expectAllOnce(device, told);
  },
);

async function live(device: Device, random: () => number, told: ScanAnswer[]): Promise<void> {
  for (let step = 0; step < 6; step += 1) {
    const luck = random();
    if (luck < 0.6) {
      const code = codeOf(1 + Math.floor(random() * 20));
      const answer = await tryTo(() => device.scan(code, 'entry', { offline: luck < 0.4 }));
      if (answer !== null) told.push(answer);
    } else if (luck < 0.85) await tryTo(() => device.sync());
    else await tryTo(() => device.beat());
  }
}

function busy(): Response {
  const answer = refused(429, 'too_many_syncs');
  answer.headers.set('Retry-After', '2');
  return answer;
}

function down(): Response {
  return refused(503, 'unavailable');
}
