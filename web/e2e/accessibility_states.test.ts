/**
 * Every page of dashboard and box office, in each of its states, in light and in dark, by axe and on a
 * phone. A new page is one row here.
 */
import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { SeatedHouse } from './box_office_house.ts';
import { choose, enter, hold } from './box_office_pages.ts';
import { BareDevice } from './dashboard_device.ts';
import { expect as expectAtDashboard, test as dashboardTest } from './dashboard_fixtures.ts';
import { expect, test } from './fixtures.ts';
import type { Venue } from './venue.ts';

const TEST_MS_MAX = 1_200_000;
/** What a page asks for besides who is logged in. */
const ITS_READINGS = /\/api\/(?!session|live)/;

interface Row {
  /** The address of the page, where there is something to show. */
  at: (eventId: string) => string;
  /** What it says then. */
  filled: string | RegExp;
  /** What it says where there is nothing, or nothing that could be empty. */
  empty?: string;
  /** What it says when the server is gone. */
  failed: string;
  /** What opens over it. */
  dialog?: (page: Page) => Promise<void>;
}

const DASHBOARD: Record<string, Row> = {
  events: { at: () => '/', filled: 'Jazz in the Park', failed: 'The events could not be read' },
  setup: { at: () => '/setup', filled: 'Seating policy', failed: 'Seating policy' },
  organization: {
    at: () => '/setup/organization',
    filled: 'Log out everywhere',
    failed: 'The organisation could not be read',
  },
  people: {
    at: () => '/setup/people',
    filled: 'owner@example.com',
    failed: 'The accounts could not be read',
  },
  whitelists: {
    at: () => '/setup/whitelists',
    filled: 'Your whitelists',
    failed: 'The whitelists could not be read',
  },
  venues: {
    at: () => '/setup/venues',
    filled: 'Jazz in the Park',
    failed: 'The venues could not be read',
  },
  policy: {
    at: () => '/setup/policy',
    filled: 'Choosing seats',
    failed: 'The seating policy could not be read',
  },
  newEvent: {
    at: () => '/events/new',
    filled: 'Name of the event',
    failed: 'The venues could not be read',
  },
  audit: {
    at: () => '/audit',
    filled: 'Status: published → live',
    failed: 'The audit log could not be read',
  },
  overview: {
    at: (id) => `/events/${id}`,
    filled: 'North gate',
    empty: 'No gates yet',
    failed: 'This event could not be read',
  },
  live: {
    at: (id) => `/events/${id}/live`,
    filled: 'North gate',
    empty: 'This event has no gates yet',
    failed: 'The counts are not up to date',
  },
  queues: {
    at: (id) => `/events/${id}/queues`,
    filled: 'A code that nobody has',
    empty: 'No conflicts',
    failed: 'The work queues could not be read',
  },
  devices: {
    at: (id) => `/events/${id}/devices`,
    filled: 'iPad 1',
    empty: 'No devices yet',
    failed: 'The devices could not be read',
    dialog: (page) => page.getByRole('button', { name: 'Revoke: iPad 1' }).click(),
  },
  imports: {
    at: (id) => `/events/${id}/imports`,
    filled: '2 tickets new',
    empty: 'Nothing was imported yet',
    failed: 'The imports could not be read',
  },
  details: {
    at: (id) => `/events/${id}/details`,
    filled: 'State of the event',
    failed: 'This event could not be read',
    dialog: (page) => page.getByRole('button', { name: 'End the event' }).click(),
  },
  layout: {
    at: (id) => `/events/${id}/layout`,
    filled: 'Zones of this event',
    failed: 'The layout of this event could not be read',
  },
  tickets: {
    at: (id) => `/events/${id}/tickets`,
    filled: 'Standard',
    failed: 'The ticket types could not be read',
  },
  gates: {
    at: (id) => `/events/${id}/gates`,
    filled: 'North gate',
    empty: 'No gates yet',
    failed: 'The gates could not be read',
    dialog: (page) => page.getByRole('button', { name: /^Delete/ }).click(),
  },
  scanPolicy: {
    at: (id) => `/events/${id}/scan-policy`,
    filled: 'How this event is scanned',
    failed: 'The scan policy could not be read',
  },
  sales: {
    at: (id) => `/events/${id}/reports/sales`,
    filled: 'By ticket type',
    empty: 'Nothing sold yet',
    failed: 'The report could not be made',
  },
  attendance: {
    at: (id) => `/events/${id}/reports/attendance`,
    filled: 'By gate',
    empty: 'Nobody was scanned yet',
    failed: 'The report could not be made',
  },
  noShows: {
    at: (id) => `/events/${id}/reports/no-shows`,
    filled: 'Tickets that nobody came in with',
    empty: 'No tickets yet',
    failed: 'The report could not be made',
  },
  funnel: {
    at: (id) => `/events/${id}/reports/funnel`,
    filled: 'Nobody held anything yet',
    failed: 'The report could not be made',
  },
};

const BOX_OFFICE: Record<string, Row> = {
  events: { at: () => '/', filled: 'Every state', failed: 'The events could not be read' },
  event: {
    at: (id) => `/events/${id}`,
    filled: 'The map is live',
    failed: 'This event could not be read',
  },
  orders: {
    at: () => '/orders',
    filled: /^VG-/,
    empty: 'No orders found',
    failed: 'The orders could not be read',
  },
};

/** Opens it anew: what is seen afterwards is not of the page before. */
async function go(page: Page, path: string): Promise<void> {
  const address = new URL(page.url());
  address.hash = path;
  await page.goto('about:blank');
  await page.goto(address.href);
}

async function expectGood(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectFitsPhone(page);
}

/** Each of the pages, with what it says in this state. */
async function expectAllGood(
  page: Page,
  rows: Record<string, Row>,
  eventId: string,
  state: 'filled' | 'empty' | 'failed',
): Promise<void> {
  for (const [name, row] of Object.entries(rows)) {
    const said = row[state];
    if (said === undefined) continue;
    await test.step(`${name}, ${state}`, async () => {
      await go(page, row.at(eventId));
      await expect(page.getByText(said).first()).toBeVisible();
      await expectGood(page);
    });
  }
}

async function expectAllGoodInAfrikaans(
  page: Page,
  rows: Record<string, Row>,
  eventId: string,
): Promise<void> {
  await page.getByRole('button', { name: 'Afrikaans' }).click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'af');
  for (const [name, row] of Object.entries(rows)) {
    await test.step(`${name}, in Afrikaans`, async () => {
      await go(page, row.at(eventId));
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.getByText(/^Lees die/)).toHaveCount(0);
      await expectGood(page);
    });
  }
}

async function loseTheServer(page: Page): Promise<void> {
  await page.route(ITS_READINGS, (route) => route.abort());
}

/** Somebody came in, somebody was turned away with what is no ticket. */
async function fill(venue: Venue): Promise<void> {
  const gate = await venue.openGate('north', 'North gate');
  const [ticket] = await venue.importTickets(2);
  const device = await BareDevice.pair(
    venue.organization,
    await venue.pairingToken(gate, 'iPad 1'),
  );
  await device.heartbeat({ battery_percent: 15, queue_length: 3 });
  await device.scan(ticket!);
  await device.scan({ id: '', code: '', barcode: 'AAAA-BBBB-CCCC' });
}

dashboardTest.describe('every page of the dashboard', () => {
  dashboardTest.use({ expectedComplaint: /Failed to load resource/ });
  dashboardTest.beforeEach(() => dashboardTest.setTimeout(TEST_MS_MAX));

  dashboardTest(
    'is accessible empty, and when the server is gone',
    async ({ dashboard, venue }) => {
      await expectAllGood(dashboard, DASHBOARD, venue.eventId, 'empty');
      await loseTheServer(dashboard);
      await expectAllGood(dashboard, DASHBOARD, venue.eventId, 'failed');
    },
  );

  dashboardTest(
    'is accessible filled, under a dialog and in Afrikaans',
    async ({ dashboard: page, venue }) => {
      await fill(venue);
      await expectAllGood(page, DASHBOARD, venue.eventId, 'filled');
      for (const { at, dialog } of Object.values(DASHBOARD)) {
        if (!dialog) continue;
        await go(page, at(venue.eventId));
        await dialog(page);
        await expectAtDashboard(page.getByRole('dialog')).toBeVisible();
        await expectGood(page);
        await page.keyboard.press('Escape');
        await expectAtDashboard(page.getByRole('dialog')).toBeHidden();
      }
      await expectAllGoodInAfrikaans(page, DASHBOARD, venue.eventId);
    },
  );
});

test.describe('every page of the box office', () => {
  test.use({ expectedComplaint: /Failed to load resource/ });
  test.beforeEach(() => test.setTimeout(TEST_MS_MAX));

  test('is accessible empty, and when the server is gone', async ({ page, organization }) => {
    const house = await SeatedHouse.open(organization, { name: 'Every state' });
    await enter(page, house, await organization.addPerson());
    await expectAllGood(page, BOX_OFFICE, house.eventId, 'empty');
    await loseTheServer(page);
    await expectAllGood(page, BOX_OFFICE, house.eventId, 'failed');
  });

  test('is accessible filled, with seats chosen and held, and in Afrikaans', async ({
    page,
    organization,
  }) => {
    const house = await SeatedHouse.open(organization, { name: 'Every state' });
    await enter(page, house, await organization.addPerson('box_office'));
    await choose(page, 'A-1');
    await expectGood(page);
    await hold(page, 'A-1', 'A-2');
    await expectGood(page);
    await page.getByLabel('Name of the buyer').fill('Sipho Botha');
    await page.getByRole('button', { name: 'Paid in cash' }).click();
    await expect(page.getByText('Here are your tickets.')).toBeVisible();
    const order = new URL(page.url()).hash.slice(1);
    const rows: Record<string, Row> = {
      ...BOX_OFFICE,
      order: { at: () => order, filled: 'Here are your tickets.', failed: '' },
    };
    await expectAllGood(page, rows, house.eventId, 'filled');
    await expectAllGoodInAfrikaans(page, rows, house.eventId);
  });
});
