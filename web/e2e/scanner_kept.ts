import type { Page } from '@playwright/test';
import type { Identity, LoggedScan } from '@voelgoed/device';
import type { Manifest } from '@voelgoed/rules';

/** What is on the disk of the device, read beside the app. */
export interface KeptState {
  pending: LoggedScan[];
  synced: LoggedScan[];
  identity: Identity | null;
  manifest: Manifest | null;
  /** All of it but the manifest, as text, to look for what must not be there. */
  text: string;
}

type Rows = [key: string, value: unknown][];
const STORES = ['pending_scans', 'synced_scans', 'state', 'manifest'];

export async function keptOn(page: Page): Promise<KeptState> {
  const [pending, synced, state, manifest] = (await page.evaluate(readStores, STORES)) as [
    Rows,
    Rows,
    Rows,
    Rows,
  ];
  // One record names the list that counts; the list itself lies under a key of its own.
  const [key] = rowsAt<{ key: string }>(manifest, 'manifest').map((head) => head.key);
  const [kept] = rowsAt<{ document: Uint8Array }>(manifest, key);
  return {
    pending: pending.map(([, scan]) => scan as LoggedScan),
    synced: synced.map(([, scan]) => scan as LoggedScan),
    identity: (state.find(([name]) => name === 'identity')?.[1] ?? null) as Identity | null,
    manifest: kept ? (JSON.parse(new TextDecoder().decode(kept.document)) as Manifest) : null,
    text: JSON.stringify([pending, synced, state]),
  };
}

function rowsAt<Value>(rows: Rows, wanted: string | undefined): Value[] {
  return rows.filter(([key]) => key === wanted).map(([, value]) => value as Value);
}

async function readStores(names: string[]): Promise<Rows[]> {
  const opening = indexedDB.open('voelgoed-scanner');
  await new Promise((resolve, reject) => {
    opening.onsuccess = resolve;
    opening.onerror = () => reject(opening.error);
  });
  const tx = opening.result.transaction(names);
  const asked = names.map((name) => {
    const store = tx.objectStore(name);
    return [store.getAllKeys(), store.getAll()] as const;
  });
  await new Promise((resolve, reject) => {
    tx.oncomplete = resolve;
    tx.onabort = () => reject(tx.error);
  });
  opening.result.close();
  return asked.map(([keys, values]) =>
    keys.result.map((key, at) => [String(key), values.result[at] as unknown]),
  );
}

/** Puts them there, beside the app: it has to be loaded anew. */
export async function keepScans(page: Page, scans: LoggedScan[]): Promise<void> {
  await page.evaluate(async (rows) => {
    const opening = indexedDB.open('voelgoed-scanner');
    await new Promise((resolve, reject) => {
      opening.onsuccess = resolve;
      opening.onerror = () => reject(opening.error);
    });
    const tx = opening.result.transaction('pending_scans', 'readwrite');
    for (const row of rows) tx.objectStore('pending_scans').put(row);
    await new Promise((resolve, reject) => {
      tx.oncomplete = resolve;
      tx.onabort = () => reject(tx.error);
    });
    opening.result.close();
  }, scans);
}

export function idsOf(scans: readonly { scan_id: string }[]): string[] {
  return scans.map(({ scan_id }) => scan_id).sort();
}
