import { readQr } from './qr_reader.ts';
import { expect, test } from './scanner_fixtures.ts';

/** A device that waits to be approved asks so often. */
const COLLECT_EVERY_MS = 3_000;

test('the camera reads the code of the office', async ({ app, camera, gate, page, venue }) => {
  await camera.hold(await venue.pairingToken(gate, 'Phone'));
  await app.open();
  await page.getByRole('button', { name: 'Scan pairing code' }).click();
  await app.isReady();
  await expect(page.getByRole('banner')).toContainText('North gate');
});

test('the office approves a device that shows its own code', async ({ app, gate, page, venue }) => {
  await app.open();
  await page.getByRole('button', { name: 'Show a code on this device' }).click();
  await expect(page.getByText('Waiting to be approved')).toBeVisible();
  const shown = page.getByRole('img', { name: 'The QR code of this device' });
  await venue.approve(gate, 'Tablet', (await readQr(await shown.screenshot())) ?? '');
  await app.passTime(COLLECT_EVERY_MS);
  await app.isReady();
  expect((await venue.devices()).map(({ name }) => name)).toContain('Tablet');
});

test('a link that ends with the code pairs, and its code is not kept in the address', async ({
  app,
  gate,
  page,
  venue,
}) => {
  await app.open(`#/pair/${await venue.pairingToken(gate, 'Phone')}`);
  await app.isReady();
  await expect(page).toHaveURL(/\/scanner\/#\/$/);
});

test('whoever types a wrong code is told what to do, and so is who scans a ticket', async ({
  app,
  camera,
  page,
  tickets,
}) => {
  await app.open();
  await page.getByRole('button', { name: 'Type the code' }).click();
  await page.getByLabel('Pairing code').fill('7k2m 9qxd');
  await page.getByRole('button', { name: 'Pair', exact: true }).click();
  await expect(page.getByRole('alert').getByText('It has twelve letters and digits')).toBeVisible();
  await page.getByLabel('Pairing code').fill('7k2m 9qxd e4tr');
  await page.getByRole('button', { name: 'Pair', exact: true }).click();
  await expect(app.problem('pairing_token_not_found')).toContainText('Ask for a new code');
  await page.getByRole('button', { name: 'Back' }).click();
  await camera.hold(tickets[0].barcode);
  await page.getByRole('button', { name: 'Scan pairing code' }).click();
  await expect(app.problem('token_is_ticket')).toBeVisible();
});
