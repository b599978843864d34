import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { SeatedHouse } from './box_office_house.ts';
import { enter, hold, timer } from './box_office_pages.ts';
import { expect, test as watched } from './fixtures.ts';
import { OwnServer } from './own_server.ts';
import { PayPage } from './pay_page.ts';

const START_MS_MAX = 300_000;
/** A hold lasts a minute at least. */
const HOLD_ENDS_MS_MAX = 180_000;

interface Fixtures {
  /** A house whose customers pay elsewhere, and where that is. */
  shop: { house: SeatedHouse; payPage: PayPage };
}

/** On a server of its own: the organisation of the others pays at the demo's bank. */
const test = watched.extend<Fixtures, { server: OwnServer }>({
  server: [
    async ({}, use) => {
      const server = await OwnServer.start();
      await use(server);
      await server.close();
    },
    { scope: 'worker', timeout: START_MS_MAX },
  ],
  baseURL: ({ server }, use) => use(server.url),
  shop: async ({ server }, use) => {
    const given = { name: 'Paid elsewhere', demo: server.demo };
    const house = await SeatedHouse.open(server.url, given);
    const payPage = await PayPage.open(server.url, await house.organizationId());
    await house.payAt(payPage.url, payPage.secret);
    await use({ house, payPage });
    await payPage.close();
  },
});

test.beforeEach(() => test.setTimeout(START_MS_MAX));

test('a customer pays elsewhere, comes back, and the tickets are there', async ({ page, shop }) => {
  const { house, payPage } = shop;
  await enter(page, house, await house.person());
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
  const house = await SeatedHouse.open(server.url, { name: 'At the bank', demo: server.demo });
  await house.payAt(`${server.url}/demo-bank`, server.demo.bank_secret);
  await enter(page, house, await house.person());
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

test('who looks at the order while it is paid sees the tickets come', async ({ page, shop }) => {
  const { house } = shop;
  await enter(page, house, await house.person());
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
  server,
  shop,
}) => {
  const { payPage } = shop;
  // Only here it is to end: who pays in time would be too late on a busy machine.
  const given = { name: 'Paid too late', holdMinutes: 1, demo: server.demo };
  const house = await SeatedHouse.open(server.url, given);
  await enter(page, house, await house.person());
  await hold(page, 'C-1', 'C-2');
  await page.getByRole('button', { name: 'Pay online' }).click();
  await expect(page).toHaveTitle('Pay');

  const ended = { timeout: HOLD_ENDS_MS_MAX };
  await expect.poll(() => house.seatStatus('C-1'), ended).toBe('available');
  await enter(otherPage, house, await house.person());
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
