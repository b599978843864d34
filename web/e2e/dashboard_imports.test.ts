import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, openEventPage, test } from './dashboard_fixtures.ts';

const TABLE = [
  'type,zone,reference',
  'Standard,Floor,A-1',
  'Standard,Floor,A-2',
  'No such type,Floor,A-3',
  '',
].join('\n');

test.describe('with a file that is refused', () => {
  test.use({ expectedComplaint: /status of 422/ });

  test('what is no table of tickets is refused with what is wrong in it', async ({
    dashboard: page,
    venue,
  }) => {
    await openEventPage(page, venue, 'imports');
    await expect(page.getByText(/needs a code, or a seat, or a reference/)).toBeVisible();
    const buffer = Buffer.from('colour,size\nred,2\n');
    await page
      .getByLabel('CSV file')
      .setInputFiles({ name: 'socks.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Import' }).click();
    await expect(page.getByRole('alert')).not.toContainText('details');
    await expect(page.getByRole('row').filter({ hasText: 'colour' })).toContainText('is no column');
    await expect(page.getByRole('row').filter({ hasText: 'type' }).last()).toContainText('missing');
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('button', { name: 'Afrikaans' }).click();
    await expect(page.getByRole('row').filter({ hasText: 'colour' })).toContainText('geen kolom');
  });
});

test('a file of tickets is tried, its faults are shown by line, and then it is imported', async ({
  dashboard: page,
  venue,
}) => {
  await openEventPage(page, venue, 'imports');
  await expect(page.getByText('Nothing was imported yet')).toBeVisible();
  await page.getByRole('button', { name: 'Import' }).click();
  await expect(page.getByLabel('CSV file')).toHaveAccessibleDescription('Choose a file.');
  await expectAccessible(page);
  await expectFitsPhone(page);

  const buffer = Buffer.from(TABLE);
  await page
    .getByLabel('CSV file')
    .setInputFiles({ name: 'partner.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Import' }).click();
  const card = page.getByRole('main').getByRole('listitem').filter({ hasText: 'partner.csv' });
  await expect(card).toContainText('Trial');
  await expect(card).toContainText('Done');
  await expect(card).toContainText('1 line with faults');
  await card.getByRole('button', { name: 'Show the faults' }).click();
  await expect(card.getByRole('row')).toHaveCount(2);
  await expect(card.getByRole('row').nth(1)).toContainText('4');
  await expectAccessible(page);
  await expectFitsPhone(page);

  await page.getByLabel(/Only try/).uncheck();
  await page.getByRole('button', { name: 'Import' }).click();
  const real = card.filter({ hasNotText: 'Trial' });
  await expect(real).toContainText('2 tickets new');
  await expect(real).toContainText('Done');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    real.getByRole('link', { name: 'Download the faults as CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.csv$/);
});
