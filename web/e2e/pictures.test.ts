import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { demo } from './demo.ts';
import { expect, test } from './fixtures.ts';
import { logIn, openApp } from './log_in.ts';

// A README that shows them all must still open at once.
const PICTURE_BYTES_MAX = 150_000;
const PHONE = { width: 360, height: 740 };

async function take(page: Page, name: string): Promise<void> {
  const path = fileURLToPath(new URL(`../../docs/pictures/${name}.png`, import.meta.url));
  const picture = await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  expect(picture.length).toBeLessThan(PICTURE_BYTES_MAX);
}

test.describe('on a desk', () => {
  test.use({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });

  test('the event on the dashboard', async ({ page }) => {
    await openApp(page, 'dashboard');
    await logIn(page, demo().users.owner);
    await page.locator(`a[href="#/events/${demo().event_id}"]`).click();
    await expect(page.getByText('Live updates on')).toBeVisible();
    await take(page, 'dashboard');
  });
});

test.describe('at night', () => {
  test.use({ viewport: { width: 960, height: 720 }, colorScheme: 'dark' });

  test('the log-in', async ({ page }) => {
    await openApp(page, 'dashboard');
    await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
    await take(page, 'log-in');
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: PHONE, colorScheme: 'light' });

  test('the box office', async ({ page }) => {
    await openApp(page, 'box-office');
    await logIn(page, demo().users.customer);
    await expect(page.getByRole('article').first()).toBeVisible();
    await take(page, 'box-office');
  });

  test('the scanner', async ({ page }) => {
    await page.goto('/scanner/');
    await expect(page.getByRole('heading', { name: 'Server reachable' })).toBeVisible();
    await take(page, 'scanner');
  });
});
