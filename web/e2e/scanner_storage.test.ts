import type { Page } from '@playwright/test';
import { expect, test } from './scanner_fixtures.ts';

const QUOTA_BYTES = 12_000_000;

test.beforeEach(({ page, baseURL }) => limitStorage(page, baseURL ?? ''));

test('with its storage full it lets in whom the server lets in, nobody by itself, and says what to do', async ({
  context,
  page,
  paired: app,
  tickets,
  venue,
}) => {
  const [first, second, third] = tickets;
  await page.evaluate(fillStorage);
  const online = await app.scan(first.barcode);
  expect(online.light).toBe('green');
  expect(online.text).toContain('this device could not keep it');
  expect(await app.scan(first.barcode)).toMatchObject({ light: 'red' });
  const scans = await venue.scans();
  expect(scans.map(({ id }) => id)).toContain(online.scanId);
  expect(scans).toHaveLength(2);

  await context.setOffline(true);
  const offline = await app.scan(second.barcode);
  expect(offline).toMatchObject({ light: 'red', scanId: null });
  expect(offline.text).toContain('The storage of this device is full.');
  expect(offline.text).toContain('Delete photos or apps');
  expect(offline.text).toContain('Not recorded');
  const { pending, synced } = await app.kept();
  expect([...pending, ...synced]).toEqual([]);
  expect(await venue.scans()).toHaveLength(2);

  await page.evaluate(emptyStorage);
  expect(await app.scan(third.barcode)).toMatchObject({ light: 'yellow' });
  // Not on the disk, and not forgotten either.
  expect(await app.scan(first.barcode)).toMatchObject({ light: 'red' });
});

/** Before anything is kept: later the browser would not ask how much there is. */
async function limitStorage(page: Page, origin: string): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: QUOTA_BYTES });
}

/** Until there is no room for the least of what the app keeps. */
async function fillStorage(): Promise<void> {
  const opening = indexedDB.open('filler');
  opening.onupgradeneeded = () =>
    opening.result.createObjectStore('rubbish', { autoIncrement: true });
  await new Promise((resolve, reject) => {
    opening.onsuccess = resolve;
    opening.onerror = reject;
  });
  const add = (bytes: number) =>
    new Promise<boolean>((resolve) => {
      const tx = opening.result.transaction('rubbish', 'readwrite');
      tx.objectStore('rubbish').put(crypto.getRandomValues(new Uint8Array(bytes)));
      tx.oncomplete = () => resolve(true);
      tx.onabort = () => resolve(false);
    });
  for (let bytes = 65_536; bytes >= 64; bytes /= 2) while (await add(bytes));
  opening.result.close();
}

async function emptyStorage(): Promise<void> {
  const removing = indexedDB.deleteDatabase('filler');
  await new Promise((resolve, reject) => {
    removing.onsuccess = resolve;
    removing.onerror = reject;
  });
}
