import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, test } from './fixtures.ts';

const apps = [
  ['Box office', 'box-office'],
  ['Dashboard', 'dashboard'],
  ['Scanner', 'scanner'],
] as const;

test('the landing page says what this is and is for everybody', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByText('This is a Voelgoed installation')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
});

for (const [name, app] of apps) {
  test(`the landing page leads to ${name}, with the organisation`, async ({ page }) => {
    await page.goto('/?org=die-skuur');
    await page.getByRole('link', { name }).click();
    await expect(page).toHaveURL(`/${app}/?org=die-skuur`);
    await expect(page.getByRole('banner')).toContainText(name);
  });
}

test('the landing page leads to the API documentation', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('link', { name: 'API documentation' }).click();
  await expect(page).toHaveTitle('Voelgoed API documentation');
});
