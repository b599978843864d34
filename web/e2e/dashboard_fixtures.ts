import type { Page } from '@playwright/test';
import { test as watched, expect } from './fixtures.ts';
import { logIn } from './log_in.ts';
import { OwnServer } from './own_server.ts';
import { Venue, type Gate } from './venue.ts';

const START_MS_MAX = 300_000;
const TEST_MS_MAX = 240_000;

interface Fixtures {
  venue: Venue;
  gate: Gate;
  /** Logged in as the owner, with the page of the events open. */
  dashboard: Page;
}

interface WorkerFixtures {
  server: OwnServer;
}

/** One server for all of them, and for each test an event of its own. */
export const test = watched.extend<Fixtures, WorkerFixtures>({
  server: [
    async ({}, use) => {
      const server = await OwnServer.start();
      await use(server);
      await server.close();
    },
    { scope: 'worker', timeout: START_MS_MAX },
  ],
  baseURL: ({ server }, use) => use(server.url),
  venue: async ({ server }, use) => use(await Venue.open(server)),
  gate: async ({ venue }, use) => use(await venue.openGate('north', 'North gate')),
  dashboard: async ({ page, server }, use) => {
    const { organization_slug, users } = server.demo;
    await page.goto(`/dashboard/?org=${organization_slug}`);
    await logIn(page, users.owner);
    await expect(page.getByRole('heading', { name: 'Events', level: 1 })).toBeVisible();
    await use(page);
  },
});

test.beforeEach(() => test.setTimeout(TEST_MS_MAX));

export async function openEventPage(page: Page, venue: Venue, name: string): Promise<void> {
  await page.goto(`/dashboard/#/events/${venue.eventId}/${name}`);
  await expect(page.getByText('Live updates on')).toBeVisible();
}

export { expect };
