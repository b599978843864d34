import type { Locator, Page } from '@playwright/test';
import type { SeatedHouse } from './box_office_house.ts';
import type { LogIn } from './demo.ts';
import { expect } from './fixtures.ts';

/** Somebody with a session opens the page of the event. */
export async function enter(page: Page, house: SeatedHouse, who: LogIn): Promise<void> {
  await house.organization.signIn(page, who);
  await page.goto(house.page);
  await expect(page.getByText('The map is live')).toBeVisible();
}

/** In the list, where every seat has a name. */
export async function choose(page: Page, ...seats: string[]): Promise<void> {
  await page.getByRole('button', { name: 'List' }).click();
  await openOnce(page, 'Stalls');
  for (const seat of seats) {
    const [row, number] = seat.split('-');
    await openOnce(page, `Row ${row}`);
    const inRow = page.locator('details.row').filter({ hasText: `Row ${row}` });
    await inRow.getByRole('checkbox', { name: new RegExp(`^Seat ${number},`) }).check();
  }
}

async function openOnce(page: Page, name: string): Promise<void> {
  const details = page
    .locator('details')
    .filter({ has: page.locator('summary', { hasText: name }) });
  const part = name.startsWith('Row') ? details.last() : details.first();
  if ((await part.getAttribute('open')) === null) await part.locator('summary').first().click();
}

export async function hold(page: Page, ...seats: string[]): Promise<void> {
  await choose(page, ...seats);
  const count = seats.length === 1 ? '1 seat' : `${seats.length} seats`;
  await page.getByRole('button', { name: `Hold ${count}` }).click();
  await expect(timer(page)).toBeVisible();
}

/** The two best seats for cash, by somebody who touches no mouse. */
export async function sellByKeyboard(page: Page): Promise<void> {
  await page.getByLabel('How many people').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Hold 2 seats' })).toBeFocused();
  await page.keyboard.press('Enter');
  const name = page.getByLabel('Name of the buyer');
  await name.waitFor();
  await expect(page.locator('#checkout')).toBeFocused();
  await tabTo(page, name);
  await page.keyboard.type('Sipho Botha');
  await tabTo(page, page.getByRole('button', { name: 'Paid in cash' }));
  await page.keyboard.press('Enter');
  await page.getByText('Here are your tickets.').waitFor();
}

async function tabTo(page: Page, target: Locator): Promise<void> {
  while (!(await target.evaluate((element) => element === document.activeElement))) {
    await page.keyboard.press('Tab');
  }
}

export const timer = (page: Page) => page.getByRole('timer');
