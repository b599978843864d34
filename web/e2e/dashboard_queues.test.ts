import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { BareDevice } from './dashboard_device.ts';
import { expect, openEventPage, test } from './dashboard_fixtures.ts';

/** Long before any device was paired here. */
const BEFORE_PAIRING_S = 3_600;

test('two people let in with one ticket: both scans side by side, and a decision with its reason', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const [ticket] = await venue.importTickets(1);
  if (!ticket) throw new Error('there is no ticket');
  const south = await venue.openGate('south', 'South gate');
  const online = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad north'));
  const alone = await BareDevice.pair(organization, await venue.pairingToken(south, 'iPad south'));
  await openEventPage(page, venue, 'queues');
  await expect(page.getByText('No conflicts')).toBeVisible();

  expect((await online.scan(ticket)).said).toBe('admitted');
  await alone.bring(ticket, 0);
  const conflicts = page.getByRole('region', { name: 'Conflicts' });
  const card = conflicts.getByRole('listitem');
  await expect(card).toContainText('Two people let in with one ticket');
  await expect(card).toContainText(ticket.code);
  await expect(card).toContainText('iPad north');
  await expect(card).toContainText('iPad south');
  await expect(card).toContainText('Brought later by the device');
  const alert = page
    .getByRole('region', { name: 'Alerts' })
    .getByRole('listitem')
    .filter({ hasText: 'Two people let in with one ticket' });
  await expect(alert).toContainText('Let in at North gate');
  await expect(alert).toContainText('Let in at South gate');
  await alert.getByRole('button', { name: 'Go to its conflict' }).click();
  await expect(card.getByRole('heading', { level: 3 })).toBeFocused();
  await expectAccessible(page);
  await expectFitsPhone(page);

  await card.getByRole('button', { name: 'Mark reviewed' }).click();
  await expect(card.getByLabel('Reason')).toHaveAccessibleDescription(/Say why\./);
  await card.getByLabel('Reason').fill('A father and his child.');
  await card.getByRole('button', { name: 'Mark reviewed' }).click();
  await expect(conflicts.getByText('No conflicts')).toBeVisible();
  // Who decided by keyboard goes on where they were, and its alert does not wait for the same again.
  await expect(conflicts.getByRole('heading', { name: 'Conflicts' })).toBeFocused();
  const alerts = page.getByRole('region', { name: 'Alerts' });
  await expect(alerts.getByText('Two people let in with one ticket')).toBeHidden();

  await page.getByLabel('Also show what was decided').check();
  await expect(card).toContainText('Reviewed');
  await expect(card).toContainText('Reason: A father and his child.');
  await expect(card).toContainText(/Decided by .+, \w{3}, \d/);
  await page.reload();
  await expect(page.getByLabel('Also show what was decided')).toBeChecked();
  await expect(card).toContainText('Reviewed');
});

test('two people let in with a void ticket: the queue does not say that one of them counts', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const [ticket] = await venue.importTickets(1);
  if (!ticket) throw new Error('there is no ticket');
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad 1'));
  await venue.void(ticket);
  await device.bring(ticket, 0);
  await device.bring(ticket, 0);
  await openEventPage(page, venue, 'queues');
  const card = page.getByRole('region', { name: 'Conflicts' }).getByRole('listitem');
  await expect(card).toContainText('Two people let in with one ticket');
  await expect(card.getByRole('heading', { name: 'Also let in' })).toBeVisible();
  await expect(card.getByRole('heading', { name: 'Conflicting scan' })).toBeVisible();
  await expect(card.getByText('Ticket cancelled')).toHaveCount(2);
  await expect(card.getByText('Counts')).toHaveCount(0);
});

test('imported scans wait, are looked at, and count once they are accepted', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const tickets = await venue.importTickets(2);
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad lost'));
  await venue.importQueue(await device.export(tickets));
  await openEventPage(page, venue, 'queues');
  const recoveries = page.getByRole('region', { name: 'Unverified scans' }).first();
  await expect(recoveries).toContainText('2 of 2 scans kept');
  await recoveries.getByRole('button', { name: 'Show the scans' }).click();
  await expect(recoveries.getByRole('row')).toHaveCount(3);
  await expect(recoveries.getByRole('row').nth(1)).toContainText('Right');
  await expect(recoveries.getByRole('row').nth(1)).toContainText('Before the device was ours');
  await expectAccessible(page);
  await expectFitsPhone(page);

  await recoveries.getByLabel('Reason').fill('Its network was down all evening.');
  await recoveries.getByRole('button', { name: 'Accept' }).click();
  await expect(recoveries.getByText('Nothing waits')).toBeVisible();
  await openEventPage(page, venue, 'live');
  const inside = page.getByRole('meter', { name: 'Inside now' });
  await expect(inside).toHaveAttribute('aria-valuenow', '2');
});

test('scans that a device cannot have made there and then wait, and say why', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const [ticket] = await venue.importTickets(1);
  if (!ticket) throw new Error('there is no ticket');
  const device = await BareDevice.pair(organization, await venue.pairingToken(gate, 'iPad early'));
  await device.bring(ticket, BEFORE_PAIRING_S);
  await openEventPage(page, venue, 'queues');
  const alert = page
    .getByRole('region', { name: 'Alerts' })
    .getByRole('listitem')
    .filter({ hasText: 'Unverified scans wait for a decision' });
  await expect(alert).toContainText('Before the device was at this event: 1 scan');
  await alert.getByRole('button', { name: 'Go to these scans' }).click();
  const recoveries = page.getByRole('region', { name: 'Unverified scans' }).first();
  await expect(recoveries.getByRole('heading', { level: 3 })).toBeFocused();
  await expect(recoveries).toContainText('1 of 1 scan kept, sent by the device');
  await recoveries.getByRole('button', { name: 'Show the scans' }).click();
  const scan = recoveries.getByRole('row').nth(1);
  await expect(scan).toContainText('Before the device was at this event');
  await expect(scan).toContainText('Waits for somebody to look at it');
  await expectAccessible(page);
  await expectFitsPhone(page);

  await recoveries.getByLabel('Reason').fill('Its clock was wrong.');
  await recoveries.getByRole('button', { name: 'Accept' }).click();
  await expect(recoveries.getByText('Nothing waits')).toBeVisible();
  await openEventPage(page, venue, 'live');
  const inside = page.getByRole('meter', { name: 'Inside now' });
  await expect(inside).toHaveAttribute('aria-valuenow', '1');
});

test('an alert is marked as seen, with a reason, and the next one is gone on with', async ({
  dashboard: page,
  venue,
  gate,
  organization,
}) => {
  const unknown = { id: '', code: '', barcode: 'AAAA-BBBB-CCCC' };
  for (const name of ['iPad north', 'iPad south']) {
    const device = await BareDevice.pair(organization, await venue.pairingToken(gate, name));
    await device.scan(unknown);
  }
  await openEventPage(page, venue, 'queues');
  const alerts = page.getByRole('region', { name: 'Alerts' });
  const cards = alerts.getByRole('listitem');
  await expect(cards).toHaveCount(2);
  await expect(cards.first()).toContainText('A code that nobody has');
  await expect(cards.first()).toContainText('iPad south');
  await cards.first().getByRole('button', { name: 'Mark seen' }).click();
  await expect(cards.first().getByLabel('Reason')).toBeFocused();
  await cards.first().getByLabel('Reason').fill('A voucher of another event.');
  await cards.first().getByRole('button', { name: 'Mark seen' }).click();
  await expect(cards).toHaveCount(1);
  await expect(cards).toContainText('iPad north');
  await expect(cards.getByRole('heading')).toBeFocused();

  await cards.getByLabel('Reason').fill('The same voucher.');
  await cards.getByRole('button', { name: 'Mark seen' }).click();
  await expect(alerts.getByText('No alerts')).toBeVisible();
  await expect(alerts.getByRole('heading', { name: 'Alerts' })).toBeFocused();
});

test.describe('without an answer', () => {
  test.use({ expectedComplaint: /ERR_FAILED/ });

  test('queues that cannot be read do not say that nothing waits', async ({
    dashboard: page,
    venue,
  }) => {
    await openEventPage(page, venue, 'queues');
    await expect(page.getByText('No conflicts')).toBeVisible();
    await page.route('**/conflicts?*', (route) => route.abort());
    await page.getByLabel('Also show what was decided').check();
    const conflicts = page.getByRole('region', { name: 'Conflicts' });
    await expect(conflicts.getByRole('alert')).toBeVisible();
    await expect(conflicts.getByText('No conflicts')).toBeHidden();
  });
});

test('the audit log is searched by what was done', async ({ dashboard: page, venue, gate }) => {
  await page.getByRole('link', { name: 'Audit log' }).click();
  await expect(page.getByRole('heading', { name: 'Audit log' })).toBeVisible();
  await expect(page.getByText(/^All times are in Pacific\/Auckland/)).toBeVisible();
  await page.getByLabel('What was done').selectOption('A gate was added');
  await page.getByLabel('Its id').fill(gate.id);
  await page.getByRole('button', { name: 'Search' }).click();
  const found = page.getByRole('main').getByRole('listitem');
  await expect(found).toHaveCount(1);
  await expect(found).toContainText('A gate was added');
  await expect(found).toContainText('Name: North gate');
  const session = await page.request.get('/api/session');
  const { data } = (await session.json()) as { data: { user: { name: string } } };
  await expect(found).toContainText(data.user.name);
  await page.reload();
  await expect(page.getByLabel('What was done')).toHaveValue('gate_created');
  await expect(found).toHaveCount(1);
  await expectAccessible(page);
  await expectFitsPhone(page);

  await page.getByLabel('Its id').fill(venue.eventId);
  await page.getByRole('button', { name: 'Search' }).click();
  await expect(page.getByText('Nothing found')).toBeVisible();
});
