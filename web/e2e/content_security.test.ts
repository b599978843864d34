import { expect, test } from './fixtures.ts';

test.use({ expectedComplaint: /Content Security Policy/ });

for (const place of ['/', '/scanner/', '/box-office/', '/dashboard/', '/api/docs/']) {
  test(`a script written into the page at ${place} does not run`, async ({ page }) => {
    await page.goto(place);
    await expect(page.getByRole('banner')).toBeVisible();
    const ran = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'document.documentElement.dataset.ran = "yes"';
      document.head.append(script);
      return document.documentElement.dataset.ran;
    });
    expect(ran).toBeUndefined();
  });
}
