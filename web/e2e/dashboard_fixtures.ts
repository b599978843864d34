import type { Page } from '@playwright/test';
import { test as watched, expect } from './fixtures.ts';
import { Venue, type Gate } from './venue.ts';

interface Fixtures {
  venue: Venue;
  gate: Gate;
  /** Logged in as the owner, with the page of the events open. */
  dashboard: Page;
}

/** For each test an event of its own. */
export const test = watched.extend<Fixtures>({
  venue: async ({ organization }, use) => use(await Venue.open(organization)),
  gate: async ({ venue }, use) => use(await venue.openGate('north', 'North gate')),
  dashboard: async ({ page, organization }, use) => {
    await organization.signIn(page);
    await page.goto('/dashboard/');
    await expect(page.getByRole('heading', { name: 'Events', level: 1 })).toBeVisible();
    await use(page);
  },
});

/** Without a name, the overview. */
export async function openEventPage(page: Page, venue: Venue, name?: string): Promise<void> {
  await page.goto(`/dashboard/#/events/${venue.eventId}${name ? `/${name}` : ''}`);
  await expect(page.getByText('Live updates on')).toBeVisible();
}

export { expect };
