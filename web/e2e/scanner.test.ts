import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, test } from './fixtures.ts';

test('the scanner sees the server and says that it is not paired', async ({ page }) => {
  await page.goto('/scanner/');
  await expect(page.getByRole('heading', { name: 'Server reachable' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Not paired' })).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test.describe('without a network', () => {
  test.use({ expectedComplaint: /ERR_INTERNET_DISCONNECTED/ });

  test('the scanner says so, and recovers by itself', async ({ page, context }) => {
    await page.goto('/scanner/');
    await expect(page.getByRole('heading', { name: 'Server reachable' })).toBeVisible();
    await context.setOffline(true);
    await expect(page.getByRole('heading', { name: 'Server not reachable' })).toBeVisible();
    await expectAccessible(page);
    await context.setOffline(false);
    await expect(page.getByRole('heading', { name: 'Server reachable' })).toBeVisible();
  });
});
