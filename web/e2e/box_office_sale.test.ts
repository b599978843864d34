import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { aHall, SeatedHouse } from './box_office_house.ts';
import { choose, enter, hold, sellByKeyboard, timer } from './box_office_pages.ts';
import { expect, test } from './fixtures.ts';
import { seatPlace } from './map_places.ts';

/** A hold of a minute, and the seconds after which the server gives its seats free. */
const HOLD_IS_OVER_S = 75;

test('a seat is chosen on the map, held, kept over a refresh and given free', async ({
  page,
  organization,
}) => {
  const config = aHall();
  const house = await SeatedHouse.open(organization, { name: 'Map evening', config });
  await enter(page, house, await organization.addPerson());
  const canvas = page.locator('canvas');
  for (const seat of ['B-4', 'B-5']) {
    await canvas.click({ position: await seatPlace(canvas, config, seat) });
    await expect(page.getByText(`Stalls, seat ${seat}`)).toBeVisible();
  }
  await canvas.hover({ position: await seatPlace(canvas, config, 'D-1') });
  await expect(page.getByText(/^Stalls · D-1 · Wheelchair place/)).toBeVisible();
  await expect(page.getByText(/^Price together R\s?360[.,]00 – R\s?640[.,]00$/)).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await expect(page.getByText('These seats can be booked together.')).toBeVisible();
  // The phone's bar, with a button of the same name, may be there a moment longer than the phone.
  const holdThem = page.getByRole('button', { name: 'Hold 2 seats' });
  await expect(holdThem).toHaveCount(1);
  await holdThem.click();
  await expect(timer(page)).toHaveText(/^(5:00|4:\d\d)$/);
  expect(await house.seatStatus('B-4')).toBe('held');
  await expectAccessible(page);
  await expectFitsPhone(page);

  await page.reload();
  // It goes on, and does not begin anew; on a busy machine all of that took a while.
  await expect(timer(page)).toHaveText(/^[234]:\d\d$/);
  await page.getByRole('button', { name: 'Give all free' }).click();
  await expect(timer(page)).toBeHidden();
  expect(await house.seatStatus('B-4')).toBe('available');
});

test('more time is offered once, when there is little left', async ({ page, organization }) => {
  const long = await SeatedHouse.open(organization, { name: 'A long hold', holdMinutes: 15 });
  const short = await SeatedHouse.open(organization, { name: 'Two minutes', holdMinutes: 2 });
  await enter(page, long, await organization.addPerson());
  await hold(page, 'A-1');
  const more = page.getByRole('button', { name: 'More time' });
  await expect(more).toBeHidden();
  await page.goto(short.page);
  await expect(page.getByRole('heading', { name: 'Two minutes', level: 1 })).toBeVisible();
  await hold(page, 'A-1');
  await more.click();
  await expect(more).toBeHidden();
});

test.describe('two people want one seat', () => {
  test.use({ expectedComplaint: /status of 409/ });

  test('who comes first has it, and the other sees so at once', async ({
    page,
    otherPage,
    organization,
  }) => {
    const house = await SeatedHouse.open(organization, { name: 'One seat for two' });
    await enter(page, house, await organization.addPerson());
    await enter(otherPage, house, await organization.addPerson());
    await choose(page, 'A-5');
    await choose(otherPage, 'A-5');
    await page.getByRole('button', { name: 'Hold 1 seat' }).click();
    await expect(otherPage.getByText('Somebody else was faster: A-5')).toBeVisible();
    await expect(timer(page)).toBeVisible();

    const pages = [page, otherPage];
    for (const each of pages) await choose(each, 'C-5');
    const buttons = pages.map((each) => each.getByRole('button', { name: 'Hold 1 seat' }));
    for (const button of buttons) await expect(button).toBeVisible();
    // At once, as far as that goes: who hears of the other first clicks what is no longer there.
    const found = await Promise.all(buttons.map((button) => button.elementHandle()));
    await Promise.all(
      found.map((button) => button!.evaluate((each) => (each as HTMLElement).click())),
    );
    const won = (each: Page) => each.getByRole('button', { name: 'Give Stalls, seat C-5 free' });
    await expect
      .poll(async () => (await won(page).count()) + (await won(otherPage).count()))
      .toBe(1);
    const loser = (await won(page).count()) ? otherPage : page;
    await expect(loser.getByRole('alert').filter({ hasText: 'C-5' })).toBeVisible();
  });
});

test('what somebody held and gave free is theirs to choose again, however late the news comes', async ({
  page,
  organization,
}) => {
  const late: (() => void)[] = [];
  let isLate = true;
  await page.routeWebSocket('**/api/live', (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => {
      const isNews = String(message).includes('seats_changed');
      if (isNews && isLate) late.push(() => socket.send(message));
      else socket.send(message);
    });
  });
  const house = await SeatedHouse.open(organization, { name: 'Late news' });
  await enter(page, house, await organization.addPerson());
  await hold(page, 'A-1', 'A-2');
  await expect.poll(() => late.length).toBe(1);
  await page.getByRole('button', { name: 'Give all free' }).click();
  await expect(timer(page)).toBeHidden();
  await choose(page, 'A-1', 'A-2');
  isLate = false;
  for (const send of late) send();
  await house.block(['D-10']);
  await expect(page.getByText('39 seats free')).toBeVisible();
  await expect(page.getByText('Somebody else was faster')).toBeHidden();
  await page.getByRole('button', { name: 'Hold 2 seats' }).click();
  await expect(timer(page)).toBeVisible();
});

test('what is held in one tab is held in the other, and given free there too', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'Two tabs' });
  await enter(page, house, await organization.addPerson());
  await hold(page, 'A-1', 'A-2');
  const second = await page.context().newPage();
  await second.goto(house.page);
  await expect(second.getByRole('button', { name: /^Give Stalls, seat A-/ })).toHaveCount(2);
  await second.getByRole('button', { name: 'Give Stalls, seat A-2 free' }).click();
  await expect(second.getByRole('button', { name: /^Give Stalls, seat A-/ })).toHaveCount(1);
  expect(await house.seatStatus('A-2')).toBe('available');
  await expect(page.getByRole('button', { name: /^Give Stalls, seat A-/ })).toHaveCount(1);
  expect(await house.seatStatus('A-1')).toBe('held');
  await second.getByRole('button', { name: 'Give all free' }).click();
  await expect(page.getByText('Changed in another window')).toBeVisible();
  await expect(timer(page)).toBeHidden();
  await expectAccessible(page);
});

test('what is given free on another device is not counted on this one', async ({
  page,
  otherPage,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'Two devices' });
  const who = await organization.addPerson();
  await enter(page, house, who);
  await hold(page, 'A-1');
  await enter(otherPage, house, who);
  await otherPage.getByRole('button', { name: 'Give all free' }).click();
  await expect(page.getByText('Changed in another window')).toBeVisible();
  await expect(timer(page)).toBeHidden();
});

test.describe('a window that has not heard yet', () => {
  test.use({ expectedComplaint: /status of 4\d\d/ });

  test('says why nothing could be ordered, though the form is gone', async ({
    page,
    organization,
  }) => {
    const house = await SeatedHouse.open(organization, { name: 'Late to hear' });
    await enter(page, house, await organization.addPerson());
    await hold(page, 'A-1');
    const { data } = (await (await page.request.get('/api/holds')).json()) as {
      data: { hold_id: string }[];
    };
    // The order is on its way when the seat is given free: nobody could have heard in time.
    await page.route('**/api/orders', async (route) => {
      await page.request.delete(`/api/holds/${data[0]!.hold_id}`);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Pay online' }).click();
    await expect(timer(page)).toBeHidden();
    await expect(page.getByText('Nothing was ordered')).toBeVisible();
    await expectAccessible(page);
  });
});

test('places without numbers that somebody takes are gone for whoever watches', async ({
  page,
  otherPage,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'A floor for two' });
  await enter(page, house, await organization.addPerson());
  await enter(otherPage, house, await organization.addPerson());
  await expect(page.getByText('20 places free')).toBeVisible();
  await otherPage.getByLabel('How many in Floor').fill('4');
  await otherPage.getByRole('button', { name: 'Hold places in Floor' }).click();
  await expect(page.getByText('16 places free')).toBeVisible();
  await otherPage.getByRole('button', { name: 'Give all free' }).click();
  await expect(page.getByText('20 places free')).toBeVisible();
});

test('a hold ends on the screen and in the database', async ({ page, organization, server }) => {
  await page.clock.install();
  const house = await SeatedHouse.open(organization, { name: 'A short hold', holdMinutes: 1 });
  await enter(page, house, await organization.addPerson());
  await choose(page, 'A-1');
  await page.getByRole('button', { name: 'Hold 1 seat' }).click();
  // Whoever looks late sees less, and never more.
  await expect(timer(page)).toHaveText(/^(1:00|0:\d\d)$/);
  await page.clock.fastForward(30_000);
  await expect(page.getByText('Your hold ends in half a minute.')).toBeVisible();
  await expect(timer(page)).toHaveText(/^0:(30|[0-2]\d)$/);
  expect(await house.seatStatus('A-1')).toBe('held');
  // A page whose time is up asks the server, by whose clock the minute is over just then.
  await page.route('**/api/holds', async (route) => {
    await server.passTime(organization, house.eventId, HOLD_IS_OVER_S);
    await route.continue();
  });
  await page.clock.fastForward(30_000);
  await expect(page.getByText('Your hold has ended')).toBeVisible();
  await expect(timer(page)).toBeHidden();
  await expect.poll(() => house.seatStatus('A-1')).toBe('available');
  const held = await page.request.get('/api/holds');
  expect(((await held.json()) as { data: unknown[] }).data).toEqual([]);
});

test.describe('a group of six', () => {
  test.use({ expectedComplaint: /status of 409/ });

  test('is warned of a seat left alone, and takes what is proposed instead', async ({
    page,
    organization,
  }) => {
    const house = await SeatedHouse.open(organization, { name: 'Six friends' });
    await enter(page, house, await organization.addPerson());
    await choose(page, 'A-2', 'A-3', 'A-4', 'A-5', 'A-6', 'A-7');
    await expect(page.getByText(/leave a single seat that nobody buys: A-1/)).toBeVisible();
    await page
      .getByRole('button', { name: /^Take A-/ })
      .first()
      .click();
    await expect(page.getByText('These seats can be booked together.')).toBeVisible();
    await page.getByRole('button', { name: 'Hold 6 seats' }).click();
    const held = page.getByRole('button', { name: /^Give Stalls, seat/ });
    await expect(held).toHaveCount(6);
    const names = await held.evaluateAll((all) => all.map((each) => each.ariaLabel ?? ''));
    const numbers = names.map((name) => Number(/A-(\d+)/.exec(name)?.[1])).sort((a, b) => a - b);
    expect(numbers.at(-1)! - numbers[0]!, 'side by side').toBe(5);
    for (const number of numbers) expect(await house.seatStatus(`A-${number}`)).toBe('held');
  });

  test('that fits nowhere is told what would', async ({ page, organization }) => {
    const house = await SeatedHouse.open(organization, { name: 'Nearly full' });
    const all = ['A', 'B', 'C', 'D'].flatMap((row) =>
      Array.from({ length: 10 }, (_, index) => `${row}-${index + 1}`),
    );
    const left = new Set(['A-1', 'A-2', 'A-3', 'A-4', 'D-7', 'D-8', 'D-9', 'D-10']);
    await house.block(all.filter((seat) => !left.has(seat)));
    await enter(page, house, await organization.addPerson());
    await page.getByLabel('How many people').fill('6');
    await page.getByRole('button', { name: 'Find the best' }).click();
    await expect(page.getByText('There are no such seats')).toBeVisible();
    await page.getByRole('button', { name: /^Take fewer, together: / }).click();
    await page.getByRole('button', { name: 'Hold 4 seats' }).click();
    await expect(timer(page)).toBeVisible();
    const rows = await Promise.all(
      [...left].map(async (seat) => ((await house.seatStatus(seat)) === 'held' ? seat[0] : '')),
    );
    expect(['AAAA', 'DDDD']).toContain(rows.join(''));
  });
});

test('a wheelchair place comes with the seat beside it', async ({ page, organization }) => {
  const house = await SeatedHouse.open(organization, { name: 'Together' });
  await enter(page, house, await organization.addPerson());
  await choose(page, 'D-1');
  await page.getByRole('button', { name: 'Add the companion seat D-2' }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Hold 2 seats' }).click();
  await expect(page.getByRole('button', { name: /^Give Stalls, seat D-/ })).toHaveCount(2);
  for (const seat of ['D-1', 'D-2']) expect(await house.seatStatus(seat)).toBe('held');
  await page.getByRole('button', { name: 'Give all free' }).click();
  await expect(timer(page)).toBeHidden();
  await page.getByLabel('How many people').fill('2');
  await page.getByLabel('Wheelchair places among them').fill('1');
  await page.getByRole('button', { name: 'Find the best' }).click();
  for (const seat of ['D-1', 'D-2']) {
    await expect(page.getByText(`Stalls, seat ${seat}`)).toBeVisible();
  }
});

test.describe('a zone for members', () => {
  test.use({ expectedComplaint: /status of 403/ });

  test('is explained to others, and a member names who comes along', async ({
    page,
    otherPage,
    organization,
  }) => {
    const config = aHall({ access_mode: 'membership_tier', membership_tier: 'gold' });
    const house = await SeatedHouse.open(organization, { name: 'Members', config });
    await enter(page, house, await organization.addPerson());
    await expect(page.getByText('Stalls: for members of gold.')).toBeVisible();
    await choose(page, 'B-1');
    const stalls = page.locator('summary').filter({ hasText: 'Stalls' });
    await expect(stalls).toContainText('Members only');
    await expect(page.locator('#choice')).toContainText('This zone is for gold members.');
    await page.getByRole('button', { name: 'Afrikaans' }).click();
    await expect(page.locator('#choice')).toContainText('Hierdie sone is vir lede van gold.');
    await page.getByRole('button', { name: 'English' }).click();
    await expect(page.getByRole('button', { name: 'Clear' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Hold 1 seat' })).toBeHidden();

    const friend = await organization.addPerson('customer', 'gold');
    await enter(otherPage, house, await organization.addPerson('customer', 'gold'));
    await choose(otherPage, 'B-1', 'B-2');
    await otherPage.getByRole('button', { name: 'Hold 2 seats' }).click();
    await expect(otherPage.getByRole('alert')).toContainText('name everybody who comes along');
    await otherPage.getByLabel('Email addresses of who comes along').fill(friend.email);
    await expectAccessible(otherPage);
    await otherPage.getByRole('button', { name: 'Hold 2 seats' }).click();
    await expect(timer(otherPage)).toBeVisible();
  });
});

test('the box office sells the two best seats with the keyboard, and looks the order up', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'At the counter' });
  await enter(page, house, await organization.addPerson('box_office'));
  await sellByKeyboard(page);
  const codes = page.getByRole('img', { name: /^QR code of ticket/ });
  await expect(codes).toHaveCount(2);
  for (const code of await codes.all()) {
    await expect
      .poll(() => code.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
  }
  const pdf = await page.getByRole('link', { name: 'Tickets as PDF' }).getAttribute('href');
  expect((await page.request.get(pdf!)).headers()['content-type']).toContain('application/pdf');
  await expectAccessible(page);
  await expectFitsPhone(page);

  const number = (await page.getByRole('heading', { level: 1 }).innerText()).replace('Order ', '');
  await page.getByRole('link', { name: 'Orders', exact: true }).click();
  await page.getByLabel('Order number').fill(number);
  await page.getByRole('button', { name: 'Search' }).click();
  await expectAccessible(page);
  await page.getByRole('link', { name: `Open order ${number}` }).click();
  await page.getByRole('button', { name: 'Refund all tickets' }).click();
  await expect(page.getByText('Say why.')).toBeVisible();
  await page.getByLabel('Reason').fill('Ill on the day');
  await page
    .getByRole('button', { name: /^New barcode for/ })
    .first()
    .click();
  await expect(page.getByText('has a new barcode')).toBeVisible();

  // One click is not enough, and of two tickets one may be kept.
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Refund all tickets' }).click();
  await expect(dialog).toContainText(/To give back: R\s?640[.,]00/);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(codes).toHaveCount(2);
  await page
    .getByRole('button', { name: /^Refund ticket/ })
    .first()
    .click();
  await expect(dialog).toContainText(/To give back: R\s?320[.,]00/);
  await dialog.getByRole('button', { name: 'Refund 1 ticket' }).click();
  await expect(page.getByText('1 ticket is refunded')).toContainText('1 ticket is still good.');
  await expect(codes).toHaveCount(1);
  await page.getByRole('button', { name: 'Refund all tickets' }).click();
  await dialog.getByRole('button', { name: 'Refund 1 ticket' }).click();
  await expect(codes).toHaveCount(0);
});

test('a customer takes free places on the floor, in Afrikaans', async ({ page, organization }) => {
  const house = await SeatedHouse.open(organization, { name: 'On the floor' });
  await enter(page, house, await organization.addPerson());
  await page.getByRole('button', { name: 'Afrikaans' }).click();
  await page.getByLabel('Hoeveel in Floor').fill('2');
  await page.getByRole('button', { name: 'Hou plekke in Floor' }).click();
  await page.getByRole('button', { name: 'Kry die kaartjies' }).click();
  await expect(page.getByText('Hier is jou kaartjies.')).toBeVisible();
  await expect(page.getByRole('img', { name: /^QR-kode/ })).toHaveCount(2);
  await page.getByRole('link', { name: 'My bestellings' }).click();
  await expect(page.getByRole('link', { name: /^Maak bestelling/ })).toHaveCount(1);
  await expectAccessible(page);
});

test.describe('an organisation without online payments', () => {
  test.use({ expectedComplaint: /status of 404/, hasOwnOrganization: true });

  test('says where to pay, and the seats stay held', async ({ page, organization }) => {
    const house = await SeatedHouse.open(organization, { name: 'Pay at the door' });
    await enter(page, house, await organization.addPerson());
    await choose(page, 'A-1', 'A-2');
    await page.getByRole('button', { name: 'Hold 2 seats' }).click();
    await page.getByLabel('Ticket for A-2').selectOption({ index: 1 });
    await expect(page.getByText(/^Total/)).toContainText('500');
    await page.getByRole('button', { name: 'Pay online' }).click();
    await expect(page.getByText('takes no payments online')).toBeVisible();
    await expect(timer(page)).toBeVisible();
    expect(await house.seatStatus('A-1')).toBe('held');
  });
});

test.describe('an event that is not there', () => {
  test.use({ expectedComplaint: /status of 404/ });

  test('is told, with a way on', async ({ page, organization }) => {
    await organization.signIn(page, await organization.addPerson());
    await page.goto(`/box-office/#/events/${crypto.randomUUID()}`);
    await expect(page.getByRole('heading', { name: 'This event could not be read' })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    await expectAccessible(page);
    await page.goto('/box-office/#/events/garbage');
    await expect(page.getByText('There is no such event.')).toBeVisible();
    await page.goto('/box-office/#/orders/garbage');
    await expect(page.getByText('There is no such order.')).toBeVisible();
  });
});
