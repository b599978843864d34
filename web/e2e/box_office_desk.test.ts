import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { SeatedHouse } from './box_office_house.ts';
import { choose, enter, hold, timer } from './box_office_pages.ts';
import { expect, test } from './fixtures.ts';

const SEATS = Array.from({ length: 10 }, (_, index) => `A-${index + 1}`);

test('an order says what its tickets are for, in both languages', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'What it is for' });
  await enter(page, house, await organization.addPerson('box_office'));
  await hold(page, 'B-7');
  await page.getByLabel('Name of the buyer').fill('Sipho Botha');
  await page.getByRole('button', { name: 'Paid in cash' }).click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
  const main = page.getByRole('main');
  await expect(main.getByText('What it is for').first()).toBeVisible();
  await expect(main).toContainText('SAST');
  const ticket = main.getByRole('listitem').filter({ has: page.getByRole('img') });
  await expect(ticket.getByRole('heading', { name: 'Full price' })).toBeVisible();
  for (const fact of ['Zone Stalls', 'Row B', 'Seat 7', 'Name Sipho Botha']) {
    const [name, text] = fact.split(/ (.*)/) as [string, string];
    const said = ticket.locator('div').filter({ has: page.getByText(name, { exact: true }) });
    await expect(said.getByText(text, { exact: true })).toBeVisible();
  }
  await expect(ticket).toContainText(/R\s?320[.,]00/);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Afrikaans' }).click();
  await expect(ticket).toContainText('Ry');

  await page.getByRole('button', { name: 'English' }).click();
  await page.getByRole('link', { name: 'Next sale' }).click();
  await expect(page.getByRole('heading', { name: 'Your choice' })).toBeVisible();
});

test('the list of orders names the event, and a search is still there after Back', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'Found again' });
  await enter(page, house, await organization.addPerson('box_office'));
  await hold(page, 'A-1');
  await page.getByLabel('Name of the buyer').fill('Sipho Botha');
  await page.getByLabel('Email for the tickets').fill('found-again@example.com');
  await page.getByRole('button', { name: 'Paid in cash' }).click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
  await page.getByRole('link', { name: 'Orders', exact: true }).click();
  await page.getByLabel('Email of the buyer').fill('found-again@example.com');
  await page.getByRole('button', { name: 'Search' }).click();
  const links = page.getByRole('link', { name: /^Open order/ });
  await expect(links).toHaveCount(1);
  await expect(page.getByText('Found again')).toBeVisible();
  await expect(page.getByText(/^Ordered .*SAST$/)).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await links.click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
  await page.goBack();
  await expect(page.getByLabel('Email of the buyer')).toHaveValue('found-again@example.com');
  await expect(links).toHaveCount(1);
});

test('to give tickets away is asked twice', async ({ page, organization }) => {
  const house = await SeatedHouse.open(organization, { name: 'For nothing' });
  await enter(page, house, await organization.addPerson('box_office'));
  await hold(page, 'A-1', 'A-2');
  await page.getByLabel('Name of the buyer').fill('Sipho Botha');
  await page.getByRole('button', { name: 'Give away' }).click();
  const dialog = page.getByRole('dialog', { name: 'Give 2 tickets away?' });
  await expect(dialog).toContainText(/R\s?640[.,]00/);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(timer(page)).toBeVisible();
  await page.getByRole('button', { name: 'Give away' }).click();
  await dialog.getByRole('button', { name: 'Give away' }).click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
});

test('too many seats are told with their limit, in Afrikaans too', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'One too many' });
  await enter(page, house, await organization.addPerson());
  await choose(page, ...SEATS, 'B-1');
  await expect(page.locator('#choice')).toContainText('One booking has at most 10 seats.');
  await page.getByRole('button', { name: 'Afrikaans' }).click();
  await expect(page.locator('#choice')).toContainText('Een bespreking het hoogstens 10 sitplekke.');
});

test.describe('who holds and gives free again and again', () => {
  test.use({ expectedComplaint: /status of 429/ });

  test('is told how long to wait, and not that it can be booked', async ({
    page,
    organization,
  }) => {
    const house = await SeatedHouse.open(organization, { name: 'Again and again' });
    await enter(page, house, await organization.addPerson());
    await page.getByLabel('How many people').fill('6');
    const holdSix = async () => {
      await page.getByRole('button', { name: 'Find the best' }).click();
      await page.getByRole('button', { name: 'Hold 6 seats' }).click();
    };
    await holdSix();
    await page.getByRole('button', { name: 'Give all free' }).click();
    await expect(timer(page)).toBeHidden();
    await holdSix();
    await expect(page.getByRole('alert')).toContainText(
      'At most 10 seats can be held in 5 minutes',
    );
    const wait = page.getByText(/^You can hold seats again in [0-4]:\d\d$/);
    await expect(wait).toBeVisible();
    const before = await wait.innerText();
    await expect(wait).not.toHaveText(before);
    await expect(page.getByText('These seats can be booked together.')).toBeHidden();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Afrikaans' }).click();
    await expect(page.getByRole('alert')).toContainText('hoogstens 10 sitplekke in 5 minute');
  });
});

test('a floor that is full on one day is sold on the other', async ({
  page,
  otherPage,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'Two days', twoDays: true });
  await enter(page, house, await organization.addPerson());
  await enter(otherPage, house, await organization.addPerson('box_office'));
  const type = (of: Page) => of.getByLabel('Ticket for Floor', { exact: true });
  for (const left of ['10 places free', 'Full']) {
    await type(otherPage).selectOption({ label: 'First day · Free' });
    await otherPage.getByLabel('How many in Floor').fill('10');
    await otherPage.getByRole('button', { name: 'Hold places in Floor' }).press('Enter');
    await expect(otherPage.locator('#checkout')).toBeFocused();
    await expect(otherPage.getByText(left)).toBeVisible();
  }
  await type(page).selectOption({ label: 'First day · Free' });
  await expect(page.getByText('Full (')).toBeVisible();
  await expect(page.getByLabel('How many in Floor')).toBeHidden();
  await type(page).selectOption({ label: 'Second day · Free' });
  await expect(page.getByText('20 places free')).toBeVisible();
  await page.getByRole('button', { name: 'Hold places in Floor' }).click();
  await expect(timer(page)).toBeVisible();
});

test('as many seats are free on the map as in its list', async ({ page, organization }) => {
  const house = await SeatedHouse.open(organization, { name: 'Counted once' });
  await house.block(['A-1', 'A-2']);
  await enter(page, house, await organization.addPerson());
  const badge = page.getByText(/^\d+ seats free$/);
  const count = /\d+/.exec(await badge.innerText())![0];
  await page.getByRole('button', { name: 'List' }).click();
  await expect(page.locator('summary', { hasText: 'Stalls' })).toContainText(`${count} free`);
});
