import { expect, test } from './fixtures.ts';
import { openApp } from './log_in.ts';

for (const [path, shown] of [
  ['live', 'Inside now'],
  ['queues', 'Two people let in with one ticket'],
  ['reports/attendance', 'Coming and going'],
  ['layout', 'Zones of this event'],
] as const) {
  test(`the demo's festival has something to show on the dashboard: ${path}`, async ({
    page,
    server,
  }) => {
    await server.demoOrganization.signIn(page);
    await page.goto(`/dashboard/#/events/${server.demo.event_id}/${path}`);
    await expect(page.getByText('Live updates on')).toBeVisible();
    await expect(page.getByText(shown).first()).toBeVisible();
  });
}

test("a customer finds the best seats at the demo's festival", async ({ page, server }) => {
  const { event_id, users } = server.demo;
  await server.demoOrganization.signIn(page, users.customer);
  await openApp(page, 'box-office', server.demo);
  await page.locator(`a[href="#/events/${event_id}"]`).first().click();
  await expect(page.getByText('The map is live')).toBeVisible();
  await page.getByRole('button', { name: 'Find the best' }).click();
  await expect(page.getByText('Your choice')).toBeVisible();
  await expect(page.getByText('These seats can be booked together.')).toBeVisible();
});
