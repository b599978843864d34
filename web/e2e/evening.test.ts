/** The three apps in one evening: what is sold at the counter comes in at the gate and is counted in the office. */
import type { Page } from '@playwright/test';
import { SeatedHouse } from './box_office_house.ts';
import { enter } from './box_office_pages.ts';
import { test } from './fixtures.ts';
import { deviceState, expect, ONLINE_WAIT_MS, ScannerApp } from './scanner_app.ts';
import { Venue } from './venue.ts';

/** As the box office does; gives the ticket's code. */
async function sellBestSeat(page: Page): Promise<string> {
  await page.getByLabel('How many people').fill('1');
  await page.getByRole('button', { name: 'Find the best' }).click();
  await page.getByRole('button', { name: 'Hold 1 seat' }).click();
  await page.getByLabel('Name of the buyer').fill('Lerato Mokoena');
  await page.getByRole('button', { name: 'Paid in cash' }).click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
  const image = page.getByRole('img', { name: /^QR code of ticket/ });
  const name = (await image.getAttribute('alt')) ?? '';
  return /[A-Z0-9]{4}(-[A-Z0-9]{4}){2}/.exec(name)?.[0] ?? name;
}

test('a seat sold at the counter comes in at the gate, once, and the office sees it', async ({
  page,
  otherPage,
  browser,
  baseURL,
  organization,
  watch,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'One evening', isLive: true });
  const venue = Venue.at(organization, house.eventId);
  const gate = await venue.openGate('north', 'North gate');
  await organization.signIn(page);
  await page.goto(`/dashboard/#/events/${house.eventId}/live`);
  await expect(page.getByText('Live updates on')).toBeVisible();
  const inside = page.getByRole('meter', { name: 'Inside now' });
  await expect(inside).toHaveAttribute('aria-valuenow', '0');

  await enter(otherPage, house, await organization.addPerson('box_office'));
  const code = await sellBestSeat(otherPage);
  const storageState = deviceState(baseURL!, { onlineWaitMs: ONLINE_WAIT_MS, hasCamera: false });
  const context = await browser.newContext({ baseURL: baseURL!, storageState });
  await context.clock.install();
  const gatePage = await context.newPage();
  watch(gatePage);
  const scanner = await ScannerApp.in(gatePage);
  await scanner.open();
  await scanner.pairByTyping(await venue.pairingToken(gate, 'At the entrance'));
  expect(await scanner.scan(code)).toMatchObject({ light: 'green' });
  await expect(inside).toHaveAttribute('aria-valuenow', '1');
  expect(await scanner.scan(code)).toMatchObject({ light: 'red' });
  await expect(page.getByText('1 duplicate among them')).toBeVisible();
  await expect(inside).toHaveAttribute('aria-valuenow', '1');
  await context.close();
});
