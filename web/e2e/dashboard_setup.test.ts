import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, test } from './dashboard_fixtures.ts';

const FLOOR = '01990000-0000-7000-8000-0000000000f1';
const STALLS = '01990000-0000-7000-8000-0000000000f2';

const card = (page: Page, text: string) =>
  page.getByRole('main').getByRole('listitem').filter({ hasText: text });

/** What the page of the layout does: a floor and some numbered seats. */
async function giveLayout(page: Page, eventId: string): Promise<void> {
  const event = await page.request.get(`/api/events/${eventId}`);
  const { data } = (await event.json()) as { data: { venue_id: string } };
  const seats = [1, 2, 3, 4].map((number) => {
    return { seat_id: `A-${number}`, row: 'A', number, coordinates: { x: number, y: 0 } };
  });
  const config = {
    zones: [
      { zone_id: FLOOR, zone_type: 'ga_standing', name: 'Floor', capacity: 100 },
      { zone_id: STALLS, zone_type: 'reserved_seating', name: 'Stalls', capacity: 4, seats },
    ],
  };
  const layouts = `/api/venues/${data.venue_id}/layouts`;
  const made = await page.request.post(layouts, { data: { name: 'Hall', config } });
  expect(made.status(), await made.text()).toBe(201);
  const layout = (await made.json()) as { data: { id: string } };
  const put = await page.request.put(`/api/events/${eventId}/layout`, {
    data: { layout_id: layout.data.id },
  });
  expect(put.ok(), await put.text()).toBe(true);
}

async function makeVenue(page: Page, name: string): Promise<void> {
  await page.goto('/dashboard/#/setup/venues');
  await page.getByRole('button', { name: 'Add a venue' }).click();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByLabel('Name of the venue')).toHaveAccessibleDescription('Fill this in.');
  await page.getByLabel('Name of the venue').fill(name);
  await page.getByLabel('Address').fill('Kerkstraat 1, Stellenbosch');
  await expect(page.getByLabel('Time zone')).toHaveValue('Pacific/Auckland');
  await page.getByLabel('Time zone').selectOption('Europe/Berlin');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(card(page, name)).toContainText('Europe/Berlin');
  await expectAccessible(page);
  await expectFitsPhone(page);
}

/** Gives its id. */
async function makeEvent(page: Page, venue: string, name: string): Promise<string> {
  await page.goto('/dashboard/#/');
  await page.getByRole('link', { name: 'New event' }).click();
  await page.getByRole('button', { name: 'Make the draft' }).click();
  await expect(page.getByLabel('Venue')).toHaveAccessibleDescription('Fill this in.');
  await page.getByLabel('Venue').selectOption({ label: venue });
  await page.getByLabel('Name of the event').fill(name);
  await page.getByLabel('Starts').fill('2031-03-30T02:30');
  await page.getByLabel('Ends').fill('2031-03-30T01:00');
  await page.getByLabel('Capacity').fill('many');
  await page.getByRole('button', { name: 'Make the draft' }).click();
  await expect(page.getByLabel('Starts')).toHaveAccessibleDescription(/clocks go forward/);
  await expect(page.getByLabel('Capacity')).toHaveAccessibleDescription(/whole number/);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByLabel('Starts').fill('2031-07-05T19:30');
  await page.getByLabel('Capacity').fill('104');
  await page.getByRole('button', { name: 'Make the draft' }).click();
  await expect(page.getByLabel('Ends')).toHaveAccessibleDescription('Must be after the start.');
  await page.getByLabel('Ends').fill('2031-07-05T23:00');
  await page.getByRole('button', { name: 'Make the draft' }).click();
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();
  await expect(page.getByLabel('Starts')).toHaveValue('2031-07-05T19:30');
  return page.url().split('/').at(-2) ?? '';
}

async function makeTicketType(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Ticket types' }).click();
  await page.getByRole('button', { name: 'Add a ticket type' }).click();
  await page.getByLabel('Name of the ticket type').fill('Standing');
  await page.getByLabel('Price (ZAR)').fill('R120');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByLabel('Price (ZAR)')).toHaveAccessibleDescription(/such as 120.00/);
  await page.getByLabel('Price (ZAR)').fill('120,50');
  await page.getByLabel('In all (tickets)').fill('50');
  await page.getByLabel('In one order (tickets)').fill('60');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByLabel('In one order (tickets)')).toHaveAccessibleDescription(/in all\.$/);
  await page.getByLabel('In one order (tickets)').fill('6');
  await page.getByLabel('Every zone that has a price').uncheck();
  await page.getByLabel('Floor').check();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(card(page, 'Standing')).toContainText(/R\s?120.50/);
  await expect(card(page, 'Standing')).toContainText('0 of 50 taken');
  await expectAccessible(page);
  await expectFitsPhone(page);
}

async function makeGate(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Gates' }).click();
  await page.getByRole('button', { name: 'Add a gate' }).click();
  await page.getByLabel('Code').fill('North Gate');
  await page.getByLabel('Name of the gate').fill('North gate');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page.getByLabel('Code')).toHaveAccessibleDescription(/small letters/);
  await page.getByLabel('Code').fill('north');
  await page.getByLabel('Tickets of all zones').uncheck();
  await page.getByLabel('Stalls').check();
  await page.getByLabel('Hard limit (people)').fill('80');
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(card(page, 'North gate')).toContainText('north · 1 zone');
  await expect(card(page, 'North gate')).toContainText('beyond 80 people');
}

test.describe('with what is refused', () => {
  test.use({ expectedComplaint: /status of (404|409|422)/ });

  test('a venue, an event, a ticket type and a gate are made, and it is in the box office', async ({
    dashboard: page,
  }) => {
    test.setTimeout(480_000);
    await makeVenue(page, 'Die Skuur');
    const id = await makeEvent(page, 'Die Skuur', 'Koor en Kitaar');
    await page.getByRole('button', { name: 'Publish' }).click();
    const asked = page.getByRole('dialog');
    await expect(asked).toContainText('Something is still missing.');
    await expect(asked.getByRole('link')).toHaveText([
      'Choose a layout',
      'Add ticket types',
      'Add a gate',
    ]);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await giveLayout(page, id);
    await makeTicketType(page);
    await makeGate(page);

    await page.getByRole('link', { name: 'Details' }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('button', { name: 'Publish' }).click();
    await expect(page.getByRole('dialog')).toContainText('Everything is there');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
    await expect(page.getByRole('button', { name: 'Open the doors' })).toBeVisible();
    await page.getByLabel('Capacity').fill('100');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved.')).toBeVisible();

    await page.goto('/box-office/#/');
    const offered = page.getByRole('article').filter({ hasText: 'Koor en Kitaar' });
    await offered.getByRole('link').click();
    await expect(page.getByText(/R\s?120.50/).first()).toBeVisible();

    await page.goto('/dashboard/#/setup/venues');
    await page.getByRole('button', { name: 'Delete: Die Skuur' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect(page.getByRole('alert')).toContainText('has events or layouts');
    await page.getByRole('button', { name: 'Change Die Skuur' }).click();
    await page.getByLabel('Time zone').selectOption('UTC');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByLabel('Time zone')).toHaveAccessibleDescription(/Events take place/);
  });

  test('who was too late sees what the other did, and the event goes its way', async ({
    dashboard: page,
    venue,
    gate,
  }) => {
    const event = `/api/events/${venue.eventId}`;
    await page.goto(`/dashboard/#/events/${venue.eventId}/details`);
    await page.getByLabel('Capacity').fill('40000');
    const seen = (await (await page.request.get(event)).json()) as { data: { version: number } };
    const change = { version: seen.data.version, description: 'Bring a blanket.' };
    expect((await page.request.patch(event, { data: change })).ok()).toBe(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('alert')).toContainText('in the meantime');
    await expect(page.getByLabel('Description')).toHaveValue('Bring a blanket.');
    await expect(page.getByLabel('Capacity')).toHaveValue('40000');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved.')).toBeVisible();

    await page.getByRole('link', { name: 'Gates' }).click();
    await page.getByRole('button', { name: `Delete: ${gate.name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect(page.getByRole('alert')).toContainText('can be closed, not deleted');

    await page.getByRole('link', { name: 'Scanning' }).click();
    await page.getByLabel('Duplicate window (seconds)').fill('100000');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByLabel('Duplicate window (seconds)')).toHaveAccessibleDescription(
      /at most 86400/,
    );
    await page.getByLabel('Duplicate window (seconds)').fill('600');
    await page.getByLabel('Errors of one device (percent)').fill('12,5');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved.')).toBeVisible();
    await expect(page.getByLabel('Errors of one device (percent)')).toHaveValue('12.5');
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByRole('button', { name: 'End the event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the event' }).click();
    await expect(page.getByText('can no longer be changed')).toBeVisible();
    await expect(page.getByLabel('Capacity')).toBeDisabled();
    await expectAccessible(page);
  });
});

test.describe('in an organisation of its own', () => {
  test.use({ expectedComplaint: /status of 422/, hasOwnOrganization: true });

  test('the policy is changed, with a number that is too large refused where it stands', async ({
    dashboard: page,
  }) => {
    await page.goto('/dashboard/#/setup/policy');
    const minutes = page.getByLabel('How long a seat is held (minutes)', { exact: true });
    await minutes.fill('90');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(minutes).toHaveAccessibleDescription(/Must be at most 60/);
    await expect(minutes).toBeFocused();
    await minutes.fill('8');
    await page.getByLabel('Binding for all events: Numbered seats').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved.')).toBeVisible();
    await page.reload();
    await expect(minutes).toHaveValue('8');
    await expect(page.getByLabel('Binding for all events: Numbered seats')).toBeChecked();
    await expectAccessible(page);
    await expectFitsPhone(page);
  });
});
