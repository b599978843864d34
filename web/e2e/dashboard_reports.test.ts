import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { BareDevice } from './dashboard_device.ts';
import { expect, openEventPage, test } from './dashboard_fixtures.ts';

/** The cells of a table's row, by the words of its first cell. */
async function cells(page: Page, table: string, row: string): Promise<string[]> {
  const found = page.getByRole('region', { name: table }).getByRole('row');
  const line = found.filter({ has: page.getByRole('rowheader', { name: row, exact: true }) });
  return line.getByRole('cell').allInnerTexts();
}

async function download(page: Page, link: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: link }).click(),
  ]);
  return readFile(await file.path(), 'utf8');
}

test('what was sold, who came and who did not, on screen, on paper and as a table', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const tickets = await venue.importTickets(5);
  const [first, second, third, fourth] = tickets;
  if (!first || !second || !third || !fourth) throw new Error('there are no tickets');
  await venue.void(fourth);
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad north'));
  for (const ticket of [first, second]) expect((await device.scan(ticket)).said).toBe('admitted');
  expect((await device.scan(first)).said).toBe('denied');
  expect((await device.scan(second, 'exit')).said).toBe('admitted');

  await openEventPage(page, venue, 'reports');
  await expect(page.getByRole('heading', { name: 'Sales', level: 2 })).toBeVisible();
  await expect(page.getByRole('region', { name: 'By ticket type' })).toBeVisible();
  await expect
    .poll(async () => (await cells(page, 'By ticket type', 'Standard')).slice(0, 6))
    .toEqual(['4', '0', '0', '4', '0', '1']);
  await expectAccessible(page);
  await expectFitsPhone(page);
  expect(await download(page, 'Download as CSV')).toContain('Standard');

  await page.getByRole('link', { name: 'Attendance' }).click();
  await expect(page.getByRole('heading', { name: 'Attendance', level: 2 })).toBeVisible();
  await expect(page.getByRole('region', { name: 'By gate' })).toBeVisible();
  await expect
    .poll(() => cells(page, 'By gate', 'North gate'))
    .toEqual(['2', '2', '0', '1', '1', '1']);
  const steps = page.getByLabel('In steps of', { exact: true });
  await steps.selectOption('60 minutes');
  await expect(page.getByText('In steps of 60 minutes').first()).toBeVisible();
  await expect(page.getByText(/^Inside counts each ticket at the gate/)).toBeVisible();
  await page.reload();
  await expect(steps).toHaveValue('60');
  await expect(page.getByText('In steps of 60 minutes').first()).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('button', { name: 'Print' })).toBeHidden();
  await expect(page.getByRole('navigation')).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'By gate' })).toBeVisible();
  // A sheet of paper says by itself where and when it was, and by whose clock.
  await expect(page.getByText(/^Jazz in the Park, .*20\d\d/)).toBeVisible();
  await expect(page.getByText(/^As of .*20\d\d.*Africa\/Johannesburg/)).toBeVisible();
  await page.emulateMedia({ media: 'screen' });

  await page.getByRole('link', { name: 'No-shows' }).click();
  await expect(page.getByText('The event is not over')).toBeVisible();
  const missing = page.getByRole('region', { name: 'Tickets that nobody came in with' });
  await expect(missing.getByRole('rowheader')).toHaveCount(2);
  await expect(missing).toContainText(third.code);
  await expectAccessible(page);
  await expectFitsPhone(page);
  expect(await download(page, 'Download as CSV')).toContain(third.code);

  await page.getByRole('link', { name: 'Holds and checkout' }).click();
  await expect(page.getByText('Nobody held anything yet')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('who runs the gates sees attendance, and no money', async ({ page, organization, venue }) => {
  await organization.signIn(page, await organization.addPerson('gate_supervisor'));
  await page.goto('/dashboard/');
  await expect(page.getByRole('heading', { name: 'Events', level: 1 })).toBeVisible();
  await openEventPage(page, venue, 'reports');
  await expect(page.getByRole('heading', { name: 'Attendance', level: 2 })).toBeVisible();
  await expect(page.getByText('Nobody was scanned yet')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Sales' })).toHaveCount(0);
  await page.goto(`/dashboard/#/events/${venue.eventId}/reports/sales`);
  await expect(page.getByText('This page is not yours')).toBeVisible();
  await expectAccessible(page);
});

test('what was found in the audit log can be taken along', async ({ dashboard: page, gate }) => {
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByLabel('Its id').fill(gate.id);
  await page.getByRole('button', { name: 'Search' }).click();
  await expect(page.getByRole('main').getByRole('listitem')).toHaveCount(1);
  const table = await download(page, 'Download as CSV');
  expect(table.trim().split('\n')).toHaveLength(2);
  expect(table).toContain(gate.id);
});
