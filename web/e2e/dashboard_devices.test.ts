import { createHash, randomBytes } from 'node:crypto';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { BareDevice } from './dashboard_device.ts';
import { expect, openEventPage, test } from './dashboard_fixtures.ts';

/** For so long the server gives the same ticket list to everybody. */
const LIST_FRESH_S = 10;
const TOKEN = /^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$/;

test('a device is paired by the token that is shown, scans, gets another gate, and is revoked', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  await venue.openGate('south', 'South gate');
  const [first, second] = await venue.importTickets(2);
  if (!first || !second) throw new Error('there are no tickets');
  await openEventPage(page, venue, 'devices');
  await expect(page.getByText('No devices yet')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);

  await page.getByRole('button', { name: 'Make a code' }).click();
  await expect(page.getByLabel('Name of the device')).toHaveAccessibleDescription(/Give it a name/);
  await page.getByLabel('Gate', { exact: true }).selectOption({ label: gate.name });
  await page.getByLabel('Name of the device').fill('iPad 7');
  await page.getByRole('button', { name: 'Make a code' }).click();
  await expect(page.getByRole('img', { name: 'QR code for pairing' })).toBeVisible();
  await expect(page.getByRole('timer')).toHaveText(/^Good for [45]:\d\d$/);
  const shown = page.getByRole('main').locator('.token');
  await expect(shown).toHaveText(TOKEN);
  await expectAccessible(page);
  await expectFitsPhone(page);

  const device = await BareDevice.pair(organization, (await shown.textContent()) ?? '');
  await expect(page.getByText('iPad 7 is paired and can scan.')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'iPad 7' })).toBeVisible();
  expect(await device.scan(first)).toEqual({ status: 200, said: 'admitted' });

  await page.getByLabel('Gate of iPad 7').selectOption({ label: 'South gate' });
  await expect(page.getByRole('listitem').filter({ hasText: 'iPad 7' })).toContainText(
    'South gate · Paired',
  );
  await page.getByRole('button', { name: 'Change its key: iPad 7' }).click();
  await expect(page.getByText(/^Was told to change its key/)).toBeVisible();
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Revoke: iPad 7' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText('No devices yet')).toBeVisible();
  expect((await device.scan(second)).status).toBe(401);
  await page.getByLabel('Also show revoked devices').check();
  await expect(page.getByRole('listitem').filter({ hasText: 'iPad 7' })).toContainText('Revoked');
});

test('a device that shows its own code is approved by it', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const token = randomBytes(32).toString('hex');
  const challenge = createHash('sha256').update(token).digest('hex');
  await openEventPage(page, venue, 'devices');
  await expect(page.getByLabel('Gate', { exact: true })).toHaveValue(gate.id);
  await page.getByLabel('Name of the device').fill('Phone 3');
  await page.getByLabel(/^Code of the device/).fill('not a code');
  await page.getByRole('button', { name: 'Approve the device' }).click();
  await expect(page.getByLabel(/^Code of the device/)).toHaveAccessibleDescription(
    /not such a code/,
  );
  await page.getByLabel(/^Code of the device/).fill(challenge.toUpperCase());
  await page.getByRole('button', { name: 'Approve the device' }).click();
  await expect(page.getByText('Phone 3 is approved')).toBeVisible();
  await BareDevice.pair(organization, token);
  await expect(page.getByRole('heading', { name: 'Phone 3' })).toBeVisible();
});

test('a device is taken over only by who chooses “Pair again” for it', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const [first, second] = await venue.importTickets(2);
  if (!first || !second) throw new Error('there are no tickets');
  const stray = await venue.pairingToken(gate, 'Somebody');
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad 7'));
  expect((await BareDevice.use(organization, stray, device.id)).status).toBe(409);
  await openEventPage(page, venue, 'devices');
  const card = page.getByRole('listitem').filter({ hasText: 'iPad 7' });
  await expect(card).toContainText(/Last seen \d+ s ago/);
  await expect(card).toContainText('Online');
  expect(await device.scan(first)).toEqual({ status: 200, said: 'admitted' });

  await page.getByRole('button', { name: 'Pair again: iPad 7' }).click();
  await expect(page.getByRole('heading', { name: 'Pair iPad 7 again' })).toBeVisible();
  await expect(page.getByLabel('Name of the device')).toHaveValue('iPad 7');
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('heading', { name: 'Pair a device' })).toBeVisible();
  await expect(page.getByLabel('Name of the device')).toHaveValue('');

  await page.getByRole('button', { name: 'Pair again: iPad 7' }).click();
  await page.getByRole('button', { name: 'Make a code' }).click();
  const shown = page.getByRole('main').locator('.token');
  await expect(shown).toHaveText(TOKEN);
  const again = await BareDevice.pair(organization, (await shown.textContent()) ?? '');
  expect(again.id).toBe(device.id);
  await expect(page.getByText('iPad 7 is paired and can scan.')).toBeVisible();
  expect((await device.scan(second)).status).toBe(401);
  expect(await again.scan(second)).toEqual({ status: 200, said: 'admitted' });
});

test('the ticket list says what is in it, which device has which, and who is behind', async ({
  dashboard: page,
  venue,
  gate,
  organization,
  server,
}) => {
  await venue.importTickets(3);
  const pair = async (name: string) =>
    BareDevice.pair(organization, await venue.pairingToken(gate, name));
  const [early, late] = [await pair('iPad early'), await pair('iPad late')];
  await openEventPage(page, venue, 'devices');
  await expect(page.getByText('No ticket list was made yet')).toBeVisible();

  const first = await early.fetchList(venue.eventId);
  await early.heartbeat({ manifest_version: first });
  await venue.importTickets(2);
  await server.passTime(organization, venue.eventId, LIST_FRESH_S);
  const newest = await late.fetchList(venue.eventId);
  expect(newest).toBeGreaterThan(first);
  await late.heartbeat({ manifest_version: newest });

  const list = page.getByRole('region', { name: 'Ticket list for when there is no network' });
  await expect(list).toContainText(/Tickets in it\s*5/);
  await expect(list).toContainText('1 device is behind');
  await expect(list.getByRole('listitem').first()).toContainText(
    new RegExp(`Version ${newest}\\s*\\(newest\\)\\s*iPad late`),
  );
  await expect(list.getByRole('listitem').last()).toContainText('iPad early');
  await expectAccessible(page);
  await expectFitsPhone(page);
});
