import type { Page } from '@playwright/test';
import type { SeatedHouse } from './box_office_house.ts';
import type { LogIn } from './demo.ts';
import { expect } from './fixtures.ts';
import { logIn } from './log_in.ts';

export async function enter(page: Page, house: SeatedHouse, who: LogIn): Promise<void> {
  await page.goto(house.page);
  await logIn(page, who);
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

export const timer = (page: Page) => page.getByRole('timer');
