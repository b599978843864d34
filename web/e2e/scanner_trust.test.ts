import { readFileSync } from 'node:fs';
import type { BrowserContext } from '@playwright/test';
import { expect, expectAllOnce, test } from './scanner_fixtures.ts';
import { idsOf } from './scanner_kept.ts';

const MANIFESTS = '**/api/scanning/events/*/manifest?*';

test('a forged ticket list is refused and explained, and a good one kept', async ({
  app,
  context,
  gate,
  page,
  tickets,
  venue,
}) => {
  await forgeManifests(context);
  await app.open();
  await app.startPairing(await venue.pairingToken(gate, 'Phone'));
  await expect(app.problem('forged_manifest')).toContainText('Somebody may be tampering');
  await expect(app.status('list')).toHaveText('No ticket list');
  expect((await app.kept()).manifest).toBeNull();

  await context.unrouteAll({ behavior: 'wait' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await app.isReady();
  await expect(app.problem('forged_manifest')).toBeHidden();

  await forgeManifests(context);
  await app.goTo('Settings');
  await page.getByRole('button', { name: 'Fetch what is new' }).click();
  await expect(app.problem('forged_manifest')).toContainText('was not kept');
  await expect(app.status('list')).toHaveText(/^List \d+/);
  await context.setOffline(true);
  expect(await app.scan(tickets[0].barcode)).toMatchObject({ light: 'yellow' });
  // One may be on its way, and nobody waits for it any more.
  await context.unrouteAll({ behavior: 'ignoreErrors' });
});

/** In all of them one byte is changed on the way: somebody may come in nine times. */
async function forgeManifests(context: BrowserContext): Promise<void> {
  await context.route(MANIFESTS, async (route) => {
    const headers = { ...route.request().headers() };
    delete headers['if-none-match'];
    const url = route
      .request()
      .url()
      .replace(/since=\d+/, 'since=0');
    const response = await route.fetch({ url, headers });
    const body = (await response.text()).replace('"entry_limit":1', '"entry_limit":9');
    await route.fulfill({ response, body });
  });
}

test('a device whose key is to be changed changes it with the next scan, and nobody notices', async ({
  context,
  paired: app,
  tickets,
  venue,
}) => {
  const [first, second, third] = tickets;
  const before = (await app.kept()).identity;
  const deviceId = before?.device_id ?? '';
  expect(await app.scan(first.barcode)).toMatchObject({ light: 'green' });
  await context.setOffline(true);
  await venue.demandRotation(deviceId);
  expect(await app.scan(second.barcode)).toMatchObject({ light: 'yellow' });
  await context.setOffline(false);
  await app.hasSentAll();
  expect((await app.kept()).identity?.api_key).not.toBe(before?.api_key);
  expect(await app.scan(third.barcode)).toMatchObject({ light: 'green' });
  await expectAllOnce(venue, app);
});

test('a device that is known already is paired again only by a code that is made for it', async ({
  gate,
  page,
  paired: app,
  venue,
}) => {
  const before = (await app.kept()).identity;
  await app.goTo('Settings');
  await page.getByRole('button', { name: 'Pair again' }).click();
  await page.getByRole('button', { name: 'Type the code' }).click();
  await page.getByLabel('Pairing code').fill(await venue.pairingToken(gate, 'Somebody'));
  await page.getByRole('button', { name: 'Pair', exact: true }).click();
  await expect(app.problem('device_already_paired')).toContainText('Pair again');
  expect((await app.kept()).identity).toEqual(before);
  const token = await venue.pairingToken(gate, 'Phone again', before?.device_id);
  await page.getByLabel('Pairing code').fill(token);
  await page.getByRole('button', { name: 'Pair', exact: true }).click();
  await expect(page.getByLabel('Pairing code')).toBeHidden();
  expect((await app.kept()).identity).toMatchObject({
    device_id: before?.device_id,
    name: 'Phone again',
  });
});

test('a device that is revoked while it is offline loses its key and no scan', async ({
  context,
  gate,
  page,
  paired: app,
  tickets,
  venue,
}) => {
  const [first, second, third] = tickets;
  const before = await app.kept();
  const apiKey = before.identity?.api_key ?? '';
  expect(before.text).toContain(apiKey);

  await test.step('offline it goes on', async () => {
    await context.setOffline(true);
    expect(await app.scan(first.barcode)).toMatchObject({ light: 'yellow' });
    await venue.revoke(before.identity?.device_id ?? '');
    expect(await app.scan(second.barcode)).toMatchObject({ light: 'yellow' });
  });

  await test.step('then its key is wiped, and its scans are kept', async () => {
    await context.setOffline(false);
    await expect(page.getByRole('heading', { name: 'Pair this device again' })).toBeVisible();
    await expect(page.getByText('This device was revoked').first()).toBeVisible();
    await expect(page.getByText('2 scans are kept on this device')).toBeVisible();
    const { identity, manifest, pending, text } = await app.kept();
    expect({ key: identity?.api_key, manifest }).toEqual({ key: null, manifest: null });
    expect(text).not.toContain(apiKey);
    expect(pending.length).toBe(2);
  });

  await test.step('the office imports what it exports, and accepts it', async () => {
    await app.goTo('Queue');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export to a file' }).click();
    const file = JSON.parse(readFileSync(await (await saving).path(), 'utf8'));
    const { pending } = await app.kept();
    expect(idsOf(file.scans)).toEqual(idsOf(pending));
    const imported = await venue.importQueue(file);
    expect(imported).toMatchObject({ kept: 2, rejected: 0, wrong_signatures: 0 });
    await venue.acceptRecovery(imported.batch_id);
    const listed = await venue.scans();
    expect(listed.map(({ id }) => id).sort()).toEqual(idsOf(pending));
    expect(listed.map(({ status }) => status)).toEqual(['admitted', 'admitted']);
  });

  await test.step('paired again it sends them, and they still count once', async () => {
    await app.goTo('Scan');
    const { identity } = await app.kept();
    const token = await venue.pairingToken(gate, 'Phone again', identity?.device_id);
    await app.pairByTyping(token);
    await app.hasSentAll();
    expect(await app.scan(third.barcode)).toMatchObject({ light: 'green' });
    expect(await app.scan(first.barcode)).toMatchObject({ light: 'red' });
    await expectAllOnce(venue, app);
  });
});
