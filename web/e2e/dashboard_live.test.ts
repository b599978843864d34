import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { BareDevice } from './dashboard_device.ts';
import { expect, openEventPage, test } from './dashboard_fixtures.ts';
import { feed, scanTopics, type Spoken, type Topics } from './dashboard_feed.ts';

const total = (page: Page) => page.getByRole('meter', { name: 'Inside now' });

test('a ticket that is scanned at the gate is counted on the dashboard at once', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const [first, second] = await venue.importTickets(2);
  if (!first || !second) throw new Error('there are no tickets');
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad 1'));
  await device.heartbeat({ battery_percent: 15, queue_length: 3 });
  expect(await device.scan(first)).toEqual({ status: 200, said: 'admitted' });

  await openEventPage(page, venue, 'live');
  await expect(total(page)).toHaveAttribute('aria-valuenow', '1');
  expect(await device.scan(second)).toEqual({ status: 200, said: 'admitted' });
  await expect(total(page)).toHaveAttribute('aria-valuenow', '2');
  // On a slow machine the first of both may be longer ago than the seconds that are counted.
  await expect(page.getByText(/^Last 60 seconds: [12] in, 0 out$/)).toBeVisible();
  await expect(page.getByText('North gate').first()).toBeVisible();

  expect((await device.scan(second)).said).toBe('denied');
  const denied = page.getByRole('listitem').filter({ hasText: /already/i });
  await expect(denied.first()).toContainText('1');
  await expect(page.getByText('1 duplicate among them')).toBeVisible();
  await expect(
    page.getByText(/^[123] a minute, 1 of them turned away, [123] at best$/),
  ).toBeVisible();

  const certainty = page.getByTestId('certainty');
  await expect(certainty).toHaveText('2 counted, 3 scans still on devices');
  await expect(page.getByText('has scans to send, battery low')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('says how many of those inside have no right to be there', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const [ticket] = await venue.importTickets(1);
  if (!ticket) throw new Error('there is no ticket');
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad 1'));
  expect((await device.scan(ticket)).said).toBe('admitted');
  await openEventPage(page, venue, 'live');
  await expect(total(page)).toHaveAttribute('aria-valuenow', '1');
  await expect(page.getByText(/without a right/)).toHaveCount(0);
  await device.bring(ticket, 0);
  await expect(total(page)).toHaveAttribute('aria-valuenow', '2');
  await expect(total(page)).toHaveAttribute('aria-valuetext', /of which 1 without a right/);
  const atGate = page.getByRole('listitem').filter({ hasText: 'North gate' });
  await expect(atGate.first()).toContainText('of which 1 without a right to be there');
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('somebody declares the venue empty, with a reason, and it says who and when', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const [ticket] = await venue.importTickets(1);
  if (!ticket) throw new Error('there is no ticket');
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad 1'));
  expect(await device.scan(ticket)).toEqual({ status: 200, said: 'admitted' });
  await openEventPage(page, venue, 'live');
  await expect(total(page)).toHaveAttribute('aria-valuenow', '1');

  await page.getByRole('button', { name: 'Declare empty' }).click();
  const dialog = page.getByRole('dialog', { name: 'Declare the venue empty?' });
  await dialog.getByRole('button', { name: 'Declare empty' }).click();
  await expect(dialog.getByText('Enter a reason.')).toBeVisible();
  await expect(dialog.getByLabel('Reason')).toBeFocused();
  await expect(total(page)).toHaveAttribute('aria-valuenow', '1');
  await expectAccessible(page);
  await expectFitsPhone(page);
  await dialog.getByLabel('Reason').fill('Closing round, nobody left.');
  await dialog.getByRole('button', { name: 'Declare empty' }).click();

  await expect(dialog).toBeHidden();
  await expect(total(page)).toHaveAttribute('aria-valuenow', '0');
  await expect(page.getByTestId('emptied')).toHaveText(/^Declared empty by .+, .+/);
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('says how hard a gate works, who is to come, and what needs somebody', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const tickets = await venue.importTickets(120, 12);
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad 1'));
  await openEventPage(page, venue, 'live');
  await expect(page.getByText('Nothing needs attention.')).toBeVisible();
  await expect(page.getByTestId('arrivals')).toContainText('120 tickets still to come.');
  await expect(page.getByText('Quiet')).toBeVisible();
  for (const ticket of tickets) expect((await device.scan(ticket)).said).toBe('admitted');
  await expect(page.getByText(/^(Busy|Under pressure)$/)).toBeVisible();

  const unknown = { id: '', code: '', barcode: 'ZZZZ-ZZZZ-ZZZZ' };
  await device.scan(unknown);
  await expect(page.getByText('1 open alert')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('link', { name: 'Look at them in the work queues' }).click();
  const alerts = page.getByRole('region', { name: 'Alerts' });
  await alerts.getByLabel('Reason').fill('A ticket of another house.');
  await alerts.getByRole('button', { name: 'Mark seen' }).click();
  await expect(alerts.getByText('No alerts')).toBeVisible();
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await expect(page.getByText('Nothing needs attention.')).toBeVisible();
});

test('on a phone the pages of an event are one row, with the present one in sight', async ({
  dashboard: page,
  venue,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await openEventPage(page, venue, 'imports');
  const pages = page.getByRole('navigation', { name: 'Pages of this event' });
  await expect(pages.getByRole('link', { name: 'Ticket import' })).toBeInViewport({ ratio: 1 });
  await expect(pages.getByRole('link', { name: 'Overview' })).not.toBeInViewport();
  const { height } = (await pages.boundingBox()) ?? { height: Infinity };
  expect(height).toBeLessThan(100);
  await expectFitsPhone(page);
});

test('a gate that is nearly full, and one that is full, are told', async ({
  dashboard: page,
  venue,
}) => {
  const atGates = [899, 900, 1_000];
  await feed(page, venue.eventId, { gates: 3, inside: 49_999, silentSeconds: [], atGates });
  await openEventPage(page, venue, 'live');
  await expect(page.getByText('The event is nearly full')).toBeVisible();
  await expect(page.getByText('2 open alerts (1 critical)')).toBeVisible();
  await expect(page.getByText('1 open conflict')).toBeVisible();
  await expect(page.getByText('Gate 2 is nearly full')).toBeVisible();
  await expect(page.getByText('Gate 3 is full')).toBeVisible();
  await expect(page.getByText(/^Gate 1 is/)).toBeHidden();
  await expectAccessible(page);
});

test('the dashboard speaks Afrikaans to who chooses so', async ({ dashboard: page, venue }) => {
  await openEventPage(page, venue, 'live');
  await page.getByRole('button', { name: 'Afrikaans' }).click();
  await expect(page.getByRole('heading', { name: 'Nou binne' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'af');
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Nou binne' })).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('devices that are silent make the count uncertain, and it says so', async ({
  dashboard: page,
  venue,
}) => {
  await feed(page, venue.eventId, { gates: 3, inside: 1_204, silentSeconds: [370, 360] });
  await openEventPage(page, venue, 'live');
  await expect(page.getByTestId('certainty')).toHaveText(
    /^1\s204 counted, 2 devices silent for up to 6 min$/,
  );
  await expectAccessible(page);
});

test('fifty gates at two hundred scans a second are a few pictures a second', async ({
  dashboard: page,
  venue,
}) => {
  const [gates, seconds, stepMs, scansPerStep] = [50, 3, 20, 4];
  await page.clock.install();
  await feed(page, venue.eventId, { gates, inside: 0, silentSeconds: [] });
  await openEventPage(page, venue, 'live');
  await expect(total(page)).toHaveAttribute('aria-valuenow', '0');
  const topics = await scanTopics(page, venue.eventId, gates);
  await page.clock.pauseAt(Date.now() + 60_000);
  await total(page).evaluate(countPictures);
  const steps = (seconds * 1_000) / stepMs;
  for (let step = 0; step < steps; step += 1) {
    await page.evaluate(tellScans, { topics, count: scansPerStep });
    await page.clock.runFor(stepMs);
  }
  // Never more often than it may be drawn, however many messages there are.
  const pictures = await page.evaluate(() => (window as unknown as Counted).pictures);
  expect(pictures).toBeLessThanOrEqual(seconds * 4 + 1);
  expect(pictures).toBeGreaterThan(seconds);
  await page.clock.runFor(1_000);
  await expect(total(page)).toHaveAttribute('aria-valuenow', String(steps * scansPerStep));
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

type Counted = Window & { pictures: number };

/** How often the number is drawn anew. */
function countPictures(meter: Element): void {
  const counted = window as unknown as Counted;
  counted.pictures = 0;
  const observer = new MutationObserver(() => (counted.pictures += 1));
  observer.observe(meter, { attributes: true, attributeFilter: ['aria-valuenow'] });
}

function tellScans({ topics, count }: { topics: Topics; count: number }): void {
  for (let told = 0; told < count; told += 1) (window as unknown as Spoken).tellScan(topics);
}
