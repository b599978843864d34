import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, test } from './scanner_fixtures.ts';

async function expectForEverybody(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectFitsPhone(page);
}

test('every way to pair is for everybody', async ({ app, page }) => {
  await app.open();
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Type the code' }).click();
  await page.getByLabel('Pairing code').press('Enter');
  await expectForEverybody(page);
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('button', { name: 'Show a code on this device' }).click();
  await expect(page.getByText('Waiting to be approved')).toBeVisible();
  await expectForEverybody(page);
});

test('every page is for everybody', async ({ camera, context, page, paired: app, tickets }) => {
  await page.getByRole('button', { name: 'Type a code' }).click();
  await expectForEverybody(page);
  await app.goTo('Settings');
  await expectForEverybody(page);
  await context.setOffline(true);
  await app.scan(tickets[0].barcode);
  await app.scan(tickets[0].barcode);
  await app.goTo('Queue');
  await expect(page.getByRole('heading', { name: 'Waiting to be sent' })).toBeVisible();
  await expectForEverybody(page);
  await app.goTo('Scan');
  await camera.hold('nothing of ours');
  await page.getByRole('button', { name: 'Camera on' }).click();
  await expect(page.getByText('Hold a ticket before the camera')).toBeVisible();
  await expectForEverybody(page);
});

test.describe('verdicts', () => {
  test.beforeEach(({ page }) => page.addInitScript(keepVerdicts));

  test('every verdict is for everybody', async ({ context, page, paired: app, tickets }) => {
    const [first, second] = tickets;
    const expectVerdict = async (light: string, text: string) => {
      await app.scan(text);
      await expect(app.verdict).toHaveAttribute('data-light', light);
      await expectForEverybody(page);
    };
    await expectVerdict('green', first.barcode);
    await expectVerdict('red', first.barcode);
    await context.setOffline(true);
    await expectVerdict('yellow', second.barcode);
    await expectVerdict('red', 'nothing of ours');
  });
});

/** Nobody can look at all of it in two seconds. */
function keepVerdicts(): void {
  const soon = window.setTimeout;
  const isVerdict = (ms: number | undefined) => ms === 2_000 || ms === 3_000;
  window.setTimeout = ((work: () => void, ms?: number) =>
    soon(work, isVerdict(ms) ? 600_000 : ms)) as typeof setTimeout;
}

test('it speaks Afrikaans once somebody chooses it, also after a reload', async ({
  page,
  paired: app,
  tickets,
}) => {
  await app.goTo('Settings');
  await page.getByText('Afrikaans', { exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Instellings');
  await expect(page.locator('html')).toHaveAttribute('lang', 'af');
  const verdict = await app.scan(tickets[0].barcode);
  expect(verdict.light).toBe('green');
  expect(verdict.text).toContain('GAAN IN');
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Instellings');
  await page.getByText('English', { exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Settings');
});
