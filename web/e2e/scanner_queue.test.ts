import { signScan } from '@voelgoed/rules';
import type { LoggedScan } from '@voelgoed/device';
import { expect, expectAllOnce, expectOnce, test } from './scanner_fixtures.ts';
import { ScannerApp, SENT_MS_MAX } from './scanner_app.ts';
import { idsOf, keepScans } from './scanner_kept.ts';

const MANY = 1_000;
const HOUR_MS = 3_600_000;

test(`${MANY} scans that waited are sent, and everybody sees how far it is`, async ({
  app,
  context,
  gate,
  page,
  venue,
}) => {
  await venue.importTickets(MANY, 0);
  await app.open();
  await app.pairByTyping(await venue.pairingToken(gate, 'Phone'));
  await context.setOffline(true);
  const scans = await scansOfAll(app);
  await keepScans(page, scans);
  await page.addInitScript(rememberProgress);
  await page.reload();
  await app.goTo('Queue');
  await expect(page.locator('[data-count="pending"]')).toHaveText(String(MANY));

  await context.setOffline(false);
  await expect(page.getByText('Everything was sent')).toBeVisible({ timeout: SENT_MS_MAX });
  await expect(page.locator('[data-count="pending"]')).toHaveText('0');
  const seen = await page.evaluate(() => (window as unknown as Watched).progress);
  expect(seen.length).toBeGreaterThan(3);
  expect(seen).toEqual([...seen].sort((one, other) => one - other));
  expect(seen.every((done) => done <= MANY)).toBe(true);
  await expectOnce(venue, idsOf(scans));
  expect((await venue.scans()).filter(({ status }) => status === 'admitted').length).toBe(MANY);
});

type Watched = Window & { progress: number[] };

/** What the progress bar showed of those thousand. */
function rememberProgress(): void {
  const seen: number[] = ((window as unknown as Watched).progress = []);
  new MutationObserver(() => {
    const bar = document.querySelector<HTMLProgressElement>('main progress[max="1000"]');
    if (bar && seen.at(-1) !== bar.value) seen.push(bar.value);
  }).observe(document, { childList: true, subtree: true, attributes: true });
}

test('scans from before the device had its gate are said to wait for review', async ({
  app,
  context,
  gate,
  page,
  venue,
}) => {
  await venue.importTickets(2, 0);
  await app.open();
  await app.pairByTyping(await venue.pairingToken(gate, 'Phone'));
  await context.setOffline(true);
  await keepScans(page, await scansOfAll(app, HOUR_MS));
  await page.reload();
  await app.goTo('Queue');
  await context.setOffline(false);
  await expect(
    page.getByText('2 scans wait for review by the office, from before this device had its gate'),
  ).toBeVisible({ timeout: SENT_MS_MAX });
  await expect(page.getByText('Everything was sent')).toBeVisible();
});

/** As this device would have made them, a moment or so long ago: one of each ticket. */
async function scansOfAll(app: ScannerApp, agoMs = 0): Promise<LoggedScan[]> {
  const { identity, manifest } = await app.kept();
  const { api_key, gate_id } = identity ?? {};
  const { tickets } = manifest ?? {};
  if (!api_key || !gate_id || !tickets) throw new Error('it is not ready');
  const began = Date.now() - agoMs - tickets.length;
  return Promise.all(
    tickets.map(async ({ ticket_id, barcode_hash }, place): Promise<LoggedScan> => {
      const at = new Date(began + place).toISOString().replace('Z', '000Z');
      const signed = { scan_id: crypto.randomUUID(), ticket_id, barcode_hash, scanned_at: at };
      return {
        ...signed,
        gate_id,
        barcode: ticket_id,
        scanned_at_corrected: at,
        is_measured: true,
        direction: 'entry',
        outcome: 'valid',
        reason: null,
        ticket_code: null,
        signature: await signScan({ ...signed, gate_id }, api_key),
        sync_status: 'pending',
        retry_count: 0,
        refusal_count: 0,
        last_error: null,
        synced_at: null,
        place: place + 1,
      };
    }),
  );
}

test('without a network it says that it waits for it, and can be hurried', async ({
  context,
  page,
  paired: app,
  tickets,
}) => {
  const sendNow = page.getByRole('button', { name: 'Send now' });
  await context.setOffline(true);
  for (const { barcode } of tickets.slice(0, 3)) await app.scan(barcode);
  await app.goTo('Queue');
  await expect(page.getByText('Waiting for the network.')).toBeVisible();
  await expect(app.status('queue')).toHaveText(/^3 to send/);
  await expect(page.getByText(/^Sending/)).toBeHidden();
  await expect(sendNow).toBeEnabled();
  await context.setOffline(false);
  await sendNow.click();
  await app.hasSentAll();
});

test('two tabs know of each other’s scans, and each scan is sent once', async ({
  context,
  paired: app,
  tickets,
  venue,
  watch,
}) => {
  const [first, second, third, fourth] = tickets;
  const arrived: string[] = [];
  context.on('response', (response) => {
    if (!response.url().endsWith('/api/scanning/sync')) return;
    const { scans } = response.request().postDataJSON() as { scans: { scan_id: string }[] };
    arrived.push(...scans.map(({ scan_id }) => scan_id));
  });
  const otherPage = await context.newPage();
  watch(otherPage);
  const other = await ScannerApp.in(otherPage);
  await other.open();
  await other.isReady();

  await context.setOffline(true);
  expect(await app.scan(first.barcode)).toMatchObject({ light: 'yellow' });
  expect(await other.scan(second.barcode)).toMatchObject({ light: 'yellow' });
  expect(await other.scan(first.barcode)).toMatchObject({ light: 'red' });
  expect(await app.scan(second.barcode)).toMatchObject({ light: 'red' });
  const both = await Promise.all([app.scan(third.barcode), other.scan(third.barcode)]);
  expect(both.map(({ light }) => light).sort()).toEqual(['red', 'yellow']);
  for (const tab of [app, other]) await expect(tab.status('queue')).toContainText('6 to send');
  const waiting = idsOf((await app.kept()).pending);

  await context.setOffline(false);
  for (const tab of [app, other]) await tab.hasSentAll();
  expect(arrived.sort()).toEqual(waiting);
  expect(await app.scan(fourth.barcode)).toMatchObject({ light: 'green' });
  expect(await other.scan(fourth.barcode)).toMatchObject({ light: 'red' });
  await expectAllOnce(venue, app);
});
