import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, openEventPage, test } from './dashboard_fixtures.ts';

const TABLE = [
  'type,zone,reference',
  'Standard,Floor,A-1',
  'Standard,Floor,A-2',
  'No such type,Floor,A-3',
  '',
].join('\n');

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
