import type { Page } from '@playwright/test';
import { expect, test } from '../e2e/fixtures.ts';
import { logIn, openApp } from '../e2e/log_in.ts';
import { picturePath } from './picture_path.ts';

// A README that shows them all must still open at once.
const PICTURE_BYTES_MAX = 200_000;
/** What matters of a page stands below its links. */
const TALL = 1300;
const PHONE = { width: 360, height: 740 };

async function take(page: Page, name: string): Promise<void> {
  const path = picturePath(name);
  const picture = await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  expect(picture.length).toBeLessThan(PICTURE_BYTES_MAX);
}

test.describe('on a desk', () => {
  test.use({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });

  for (const [name, path, shown] of [
    ['dashboard', 'live', 'Inside now'],
    ['conflict', 'queues', 'Two people let in with one ticket'],
    ['attendance', 'reports/attendance', 'Coming and going'],
    ['event-layout', 'layout', 'Zones of this event'],
  ] as const) {
    test(`the demo's festival on the dashboard: ${name}`, async ({ page, server }) => {
      await openApp(page, 'dashboard', server.demo);
      await logIn(page, server.demo.users.owner);
      await expect(page.getByRole('heading', { name: 'Events', level: 1 })).toBeVisible();
      await page.goto(`/dashboard/#/events/${server.demo.event_id}/${path}`);
      await expect(page.getByText('Live updates on')).toBeVisible();
      await expect(page.getByText(shown).first()).toBeVisible();
      await page.setViewportSize({ width: 1280, height: TALL });
      await take(page, name);
    });
  }

  test('a house at the box office', async ({ page, server }) => {
    await openApp(page, 'box-office', server.demo);
    await logIn(page, server.demo.users.customer);
    await page.locator(`a[href="#/events/${server.demo.event_id}"]`).first().click();
    await expect(page.getByText('The map is live')).toBeVisible();
    await page.getByRole('button', { name: 'Find the best' }).click();
    await expect(page.getByText('Your choice')).toBeVisible();
    await expect(page.getByText('Checking')).toBeHidden();
    await take(page, 'seat-map');
  });
});

test.describe('at night', () => {
  test.use({ viewport: { width: 960, height: 720 }, colorScheme: 'dark' });

  test('the log-in', async ({ page, server }) => {
    await openApp(page, 'dashboard', server.demo);
    await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
    await take(page, 'log-in');
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: PHONE, colorScheme: 'light' });

  test('the box office', async ({ page, server }) => {
    await openApp(page, 'box-office', server.demo);
    await logIn(page, server.demo.users.customer);
    await expect(page.getByRole('article').first()).toBeVisible();
    await take(page, 'box-office');
  });
});
