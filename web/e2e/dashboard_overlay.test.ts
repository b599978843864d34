import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { aHall, SeatedHouse } from './box_office_house.ts';
import { enter } from './box_office_pages.ts';
import { expect, test } from './fixtures.ts';
import { seatPlace, wholeHouse } from './map_places.ts';

// Seats that are taken, and a layout that cannot change.
test.use({ expectedComplaint: /status of 409/ });

async function openOverlay(page: Page, house: SeatedHouse): Promise<void> {
  await house.organization.signIn(page);
  await page.goto(`/dashboard/#/events/${house.eventId}/layout`);
  await expect(page.getByRole('heading', { name: 'Seats', exact: true })).toBeVisible();
  await expect(page.getByText('Live updates on')).toBeVisible();
}

async function openRow(page: Page, row: string): Promise<void> {
  await page.getByRole('button', { name: 'List', exact: true }).click();
  await page.locator('summary', { hasText: 'Stalls' }).click();
  await page.locator('summary', { hasText: `Row ${row}` }).click();
}

test('a seat is blocked by a click, and the box office sees it at once', async ({
  page,
  otherPage,
  organization,
}) => {
  const config = aHall();
  const house = await SeatedHouse.open(organization, { name: 'Blocked', config });
  const buyer = await organization.addPerson();
  await enter(otherPage, house, buyer);
  await openRow(otherPage, 'A');
  const seat = otherPage.getByRole('checkbox', { name: /^Seat 3,/ });
  await expect(seat).toBeEnabled();

  await openOverlay(page, house);
  await expectAccessible(page);
  await expectFitsPhone(page);
  const canvas = page.locator('canvas');
  await canvas.click({ position: await seatPlace(canvas, config, 'A-3') });
  await expect(page.getByRole('heading', { name: '1 seat chosen' })).toBeVisible();
  await expect(page.getByText('A-3', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Block 1 seat' }).click();
  await expect(page.getByLabel('Reason')).toHaveAccessibleDescription(/Say why/);
  await page.getByLabel('Reason').fill('A broken chair');
  await page.getByRole('button', { name: 'Block 1 seat' }).click();
  await expect(page.getByText('1 seat is blocked.')).toBeVisible();
  await expect(seat).toBeDisabled();
  await expect(otherPage.getByText('Seat 3, not for sale')).toBeVisible();
  expect(await house.seatStatus('A-3')).toBe('blocked');

  await openRow(page, 'A');
  await page.getByRole('checkbox', { name: 'Seat 3, blocked' }).check();
  await page.getByLabel('Reason').fill('Mended');
  await page.getByRole('button', { name: 'Put 1 seat back' }).click();
  await expect(page.getByText('1 seat is back.')).toBeVisible();
  await expect(seat).toBeEnabled();
});

test('rows and frames are chosen at once; a held seat is blocked only when that is said', async ({
  page,
  otherPage,
  organization,
}) => {
  const config = aHall();
  const house = await SeatedHouse.open(organization, { name: 'Frames', config });
  const canvas = page.locator('canvas');
  await openOverlay(page, house);
  await page.getByLabel('a row', { exact: true }).check();
  await canvas.click({ position: await seatPlace(canvas, config, 'B-5') });
  await expect(page.getByRole('heading', { name: '10 seats chosen' })).toBeVisible();
  await page.getByRole('button', { name: 'Let go' }).click();

  await page.getByLabel('all in a frame').check();
  await canvas.scrollIntoViewIfNeeded();
  const box = (await canvas.boundingBox())!;
  const { view } = await wholeHouse(canvas, config);
  const from = view.toScreen(-0.5, 4.5);
  const to = view.toScreen(2.5, 6.5);
  await page.mouse.move(box.x + from.x, box.y + from.y);
  await page.mouse.down();
  await page.mouse.move(box.x + to.x, box.y + to.y, { steps: 4 });
  await page.mouse.up();
  await expect(page.getByRole('heading', { name: '6 seats chosen' })).toBeVisible();

  await enter(otherPage, house, await organization.addPerson());
  await openRow(otherPage, 'A');
  await otherPage.getByRole('checkbox', { name: /^Seat 1,/ }).check();
  await otherPage.getByRole('checkbox', { name: /^Seat 2,/ }).check();
  await otherPage.getByRole('button', { name: /^Hold/ }).first().click();
  await expect(page.getByText('2 held')).toBeVisible();

  await page.getByRole('checkbox', { name: 'Floor is open' }).click();
  await expect(page.getByRole('alert')).toContainText('Somebody holds seats right now');
  await expect(page.getByRole('checkbox', { name: 'Floor is open' })).toBeChecked();

  await page.getByLabel('Reason').fill('The roof leaks');
  await page.getByRole('button', { name: 'Block 6 seats' }).click();
  const dialog = page.getByRole('dialog', { name: '2 seats are held or sold' });
  await expect(dialog).toContainText('A-1, A-2');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await house.seatStatus('A-3')).toBe('available');
  await page.getByRole('button', { name: 'Block 6 seats' }).click();
  await page.getByRole('button', { name: 'Block them all the same' }).click();
  await expect(page.getByText('6 seats are blocked.')).toBeVisible();
  expect(await house.seatStatus('A-1')).toBe('blocked');
});

test('an event closes zones and blocks seats in the layout itself', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'Overrides' });
  await openOverlay(page, house);
  await page.getByRole('checkbox', { name: 'Floor is open' }).click();
  await expect(page.getByRole('checkbox', { name: 'Floor is open' })).not.toBeChecked();
  await openRow(page, 'B');
  await page.getByRole('button', { name: 'All seats of row B' }).click();
  await page.getByRole('button', { name: 'Block the chosen seats in the layout' }).click();
  await expect(page.getByText('10 seats are blocked by the layout.')).toBeVisible();
  expect(await house.seatStatus('B-4')).toBe('blocked');

  const fourth = page.getByRole('checkbox', { name: 'Seat 4, blocked' });
  await expect(fourth).not.toBeChecked();
  await fourth.check();
  await page.getByLabel('Reason').fill('By mistake');
  await page.getByRole('button', { name: 'Put 1 seat back' }).click();
  await expect(page.getByRole('alert')).toContainText('The layout of this event blocks');
  await page.getByRole('button', { name: 'Take the chosen seats out' }).click();
  await expect(page.getByText('9 seats are blocked by the layout.')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
});
