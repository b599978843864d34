import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { SeatedHouse } from './box_office_house.ts';
import { enter, hold, timer } from './box_office_pages.ts';
import { expect, test as watched } from './fixtures.ts';
import { PayPage } from './pay_page.ts';

/** A hold lasts five minutes, and some seconds later the server gives its seats free. */
const HOLD_IS_OVER_S = 330;

interface Session {
  organization: { id: string };
}

interface Fixtures {
  /** A house whose customers pay elsewhere, and where that is. */
  shop: { house: SeatedHouse; payPage: PayPage };
}

const test = watched.extend<Fixtures>({
  shop: async ({ organization }, use) => {
    const house = await SeatedHouse.open(organization, { name: 'Paid elsewhere' });
    const session = await organization.ask<Session>('GET', '/api/session');
    const payPage = await PayPage.open(organization.url, session.organization.id);
    await house.payAt(payPage.url, payPage.secret);
    await use({ house, payPage });
    await payPage.close();
  },
});

test.use({ hasOwnOrganization: true });

test('a customer pays elsewhere, comes back, and the tickets are there', async ({
  page,
  organization,
  shop,
}) => {
  const { house, payPage } = shop;
  await enter(page, house, await organization.addPerson());
  await hold(page, 'A-1', 'A-2');
  await page.getByRole('button', { name: 'Pay online' }).click();
  await expect(page).toHaveTitle('Pay');
  expect(await house.seatStatus('A-1')).toBe('held');

  // Whoever goes back without paying finds the order, and may go on.
  await page.goBack();
  await expect(page.getByText('This order waits to be paid.')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Pay online' }).click();
  await page.getByRole('button', { name: 'Pay 64000' }).click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
  await expect(page.getByRole('img', { name: /^QR code of ticket/ })).toHaveCount(2);
  expect(payPage.outcomes).toEqual(['paid']);
  expect(await house.seatStatus('A-1')).toBe('sold');
});

test("a customer of the demo pays at the demo's bank, which takes no money", async ({
  page,
  server,
}) => {
  const organization = server.demoOrganization;
  const house = await SeatedHouse.open(organization, { name: 'At the bank' });
  await enter(page, house, await organization.addPerson());
  await hold(page, 'A-1', 'A-2');
  await page.getByRole('button', { name: 'Pay online' }).click();
  await expect(page.getByText('no money is taken')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Have the card declined' }).click();
  await expect(page.getByText('This order waits to be paid.')).toBeVisible();
  await page.getByRole('button', { name: 'Pay online' }).click();
  await page.getByRole('button', { name: 'Pay R 640.00' }).click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
  await expect(page.getByRole('img', { name: /^QR code of ticket/ })).toHaveCount(2);
  expect(await house.seatStatus('A-1')).toBe('sold');
});

test('who looks at the order while it is paid sees the tickets come', async ({
  page,
  organization,
  shop,
}) => {
  const { house } = shop;
  await enter(page, house, await organization.addPerson());
  await hold(page, 'B-1');
  await page.getByRole('button', { name: 'Pay online' }).click();
  await expect(page).toHaveTitle('Pay');
  const paying = await page.context().newPage();
  await paying.goto(page.url());
  await page.goBack();
  await expect(page.getByText('This order waits to be paid.')).toBeVisible();
  await paying.getByRole('button', { name: 'Pay 32000' }).click();
  await expect(page.getByText('Here are your tickets.')).toBeVisible();
});

test('who pays too late for seats that are gone is told that the money comes back', async ({
  page,
  otherPage,
  organization,
  server,
  shop,
}) => {
  const { house, payPage } = shop;
  await enter(page, house, await organization.addPerson());
  await hold(page, 'C-1', 'C-2');
  await page.getByRole('button', { name: 'Pay online' }).click();
  await expect(page).toHaveTitle('Pay');

  await enter(otherPage, house, await organization.addPerson());
  await expect(otherPage.getByText('38 seats free')).toBeVisible();
  await server.passTime(organization, house.eventId, HOLD_IS_OVER_S);
  await expect(otherPage.getByText('40 seats free')).toBeVisible();
  await hold(otherPage, 'C-1');
  await expect(timer(otherPage)).toBeVisible();

  await page.getByRole('button', { name: 'Pay 64000' }).click();
  await expect(page.getByText('You get your money back')).toBeVisible();
  await expect(page.getByText(/Your payment of R\s?640[.,]00 reached us/)).toBeVisible();
  await expect(page.getByRole('img', { name: /^QR code of ticket/ })).toHaveCount(0);
  expect(payPage.outcomes).toEqual(['refund_due']);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'Afrikaans' }).click();
  await expect(page.getByText('Jy kry jou geld terug')).toBeVisible();
});
