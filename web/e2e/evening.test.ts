/** The three apps in one evening: what is sold at the counter comes in at the gate and is counted in the office. */
import type { Page } from '@playwright/test';
import { demo } from './demo.ts';
import { Festival } from './festival.ts';
import { test } from './fixtures.ts';
import { logIn, openApp } from './log_in.ts';
import { deviceState, expect, ONLINE_WAIT_MS, ScannerApp } from './scanner_app.ts';

const TEST_MS_MAX = 360_000;

/** At the demo's festival, as the box office does; gives the ticket's code. */
async function sellBestSeat(page: Page): Promise<string> {
  await openApp(page, 'box-office');
  await logIn(page, demo().users.box_office);
  await page.locator(`a[href="#/events/${demo().event_id}"]`).first().click();
  await expect(page.getByText('The map is live')).toBeVisible();
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
  watch,
}) => {
  test.setTimeout(TEST_MS_MAX);
  await openApp(page, 'dashboard');
  await logIn(page, demo().users.owner);
  await expect(page.getByRole('heading', { name: 'Events', level: 1 })).toBeVisible();
  await page.goto(`/dashboard/#/events/${demo().event_id}/live`);
  const inside = page.getByRole('meter', { name: 'Inside now' });
  const festival = await Festival.of(baseURL!, demo());
  // Of the server: a page that is still reading its counts shows that nobody is there.
  const before = await festival.inside();
  await expect(inside).toHaveAttribute('aria-valuenow', String(before));

  const code = await sellBestSeat(otherPage);
  const storageState = deviceState(baseURL!, { onlineWaitMs: ONLINE_WAIT_MS });
  const context = await browser.newContext({ baseURL: baseURL!, storageState });
  const gate = await context.newPage();
  watch(gate);
  const scanner = await ScannerApp.in(gate);
  await scanner.open();
  await scanner.pairByTyping(await festival.pairingToken('At the entrance'));
  expect(await scanner.scan(code)).toMatchObject({ light: 'green' });
  await expect(inside).toHaveAttribute('aria-valuenow', String(before + 1));
  expect(await scanner.scan(code)).toMatchObject({ light: 'red' });
  await expect(inside).toHaveAttribute('aria-valuenow', String(before + 1));
  await context.close();
});
