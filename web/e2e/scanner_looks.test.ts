import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { SeatedHouse } from './box_office_house.ts';
import type { ScannerApp } from './scanner_app.ts';
import { expect, test } from './scanner_fixtures.ts';
import { Venue } from './venue.ts';

const SCREENS = {
  'a phone': { width: 360, height: 740 },
  'a tablet': { width: 1024, height: 768 },
  'a phone on its side': { width: 740, height: 360 },
  'half a phone': { width: 360, height: 330 },
};
/** Of a screen; the bar tells about the page and is not the page. */
const BAR_SHARE_MAX = 0.3;
/** Of the hall that tests have. */
const WHEELCHAIR_SEAT = 'D-1';
const COMPANION_SEAT = 'D-2';

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
  await camera.holdNothing();
  await page.getByRole('button', { name: 'Camera on' }).click();
  await expect(page.getByText('Hold a ticket before the camera')).toBeVisible();
  await expectForEverybody(page);
});

test('every verdict is for everybody', async ({ context, page, paired: app, tickets }) => {
  const [first, second] = tickets;
  await app.keepVerdicts();
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

/** What is written in a verdict and is not all on the screen, or is broken inside a word. */
function cutOff(): string[] {
  const shown = document.querySelector('[data-light] .said');
  if (!shown) return ['there is no verdict'];
  const found: string[] = [];
  const texts = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    for (const { 0: word, index } of (text.textContent ?? '').matchAll(/[^\s-]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const [line, ...more] = Array.from(range.getClientRects());
      const isInside =
        line &&
        line.left >= 0 &&
        line.top >= 0 &&
        line.right <= innerWidth + 0.5 &&
        line.bottom <= innerHeight + 0.5;
      if (!isInside || more.length > 0) found.push(word);
    }
  }
  return found;
}

async function expectVerdictFits(page: Page): Promise<void> {
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    await expect.poll(() => page.evaluate(cutOff), screen).toEqual([]);
  }
}

async function expectScanPageFits(page: Page, directions: string[]): Promise<void> {
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
    await expect.poll(wide, screen).toBe(size.width);
    for (const direction of directions) {
      const choice = page.getByText(direction, { exact: true }).first();
      await expect(choice, screen).toBeInViewport({ ratio: 1 });
    }
    const bar = await page.getByRole('banner').boundingBox();
    expect((bar?.height ?? size.height) / size.height, screen).toBeLessThan(BAR_SHARE_MAX);
  }
}

for (const [language, entry, exit, cameraOff] of [
  ['English', 'Entry', 'Exit', 'Camera off'],
  ['Afrikaans', 'Ingang', 'Uitgang', 'Kamera af'],
] as const) {
  test(`nothing is cut off on any screen, in ${language}`, async ({
    camera,
    context,
    page,
    paired: app,
    tickets,
    venue,
  }) => {
    const [first, second, voided, fourth] = tickets;
    await venue.void(voided);
    await camera.holdNothing();
    await page.getByRole('button', { name: 'Camera on' }).click();
    await app.goTo('Settings');
    await page.getByText(language, { exact: true }).click();
    await page.goto('/scanner/#/');
    await expectScanPageFits(page, [entry, exit]);
    await page.getByText(exit, { exact: true }).click();
    await expectScanPageFits(page, [entry, exit]);
    await page.getByText(entry, { exact: true }).first().click();
    await page.setViewportSize(SCREENS['a phone']);
    await page.getByRole('button', { name: cameraOff }).click();
    await app.isIdle();

    await app.keepVerdicts();
    for (const text of [first.barcode, first.barcode, voided.barcode, 'nothing of ours']) {
      await app.scan(text);
      await expectVerdictFits(page);
    }
    await context.setOffline(true);
    for (const text of [second.barcode, second.barcode, fourth.barcode]) {
      await app.scan(text);
      await expectVerdictFits(page);
    }
    await page.keyboard.press('Escape');
    await expectScanPageFits(page, [entry, exit]);
  });
}

test('a whole code is to be seen while it is typed, on a small phone', async ({
  page,
  paired: app,
}) => {
  await app.goTo('Settings');
  await page.getByText('Afrikaans', { exact: true }).click();
  await page.goto('/scanner/#/');
  await page.setViewportSize(SCREENS['a phone']);
  await page.getByRole('button', { name: 'Tik ’n kode' }).click();
  const field = page.getByLabel('Kaartjiekode');
  await field.fill('3KQO-7F92-XWPL');
  expect(await field.evaluate((input) => input.scrollWidth - input.clientWidth)).toBe(0);
});

test('after a wrong code the field is still there, on a phone on its side', async ({
  app,
  page,
}) => {
  await page.setViewportSize(SCREENS['a phone on its side']);
  await app.open();
  await page.getByRole('button', { name: 'Type the code' }).click();
  const field = page.getByLabel('Pairing code');
  await field.fill('7K2M-9QXD-E4TR');
  await field.press('Enter');
  await expect(app.problem('pairing_token_not_found')).toBeAttached();
  await expect(field).toBeFocused();
  await expect(field).toBeInViewport({ ratio: 1 });
});

test('what to know of a seat is said on the verdict, with a network and without', async ({
  app,
  context,
  organization,
  page,
}) => {
  const { eventId } = await SeatedHouse.open(organization, { name: 'Noted', isLive: true });
  const venue = Venue.at(organization, eventId);
  const seats = [WHEELCHAIR_SEAT, COMPANION_SEAT];
  const [wheelchair, companion] = await venue.importSeats('Full price', 'Stalls', seats);
  if (!wheelchair || !companion) throw new Error('the hall has no such seats');
  const gate = await venue.openGate('north', 'North gate');
  await app.open(`#/pair/${await venue.pairingToken(gate, 'Noted')}`);
  await app.isReady();
  await app.keepVerdicts();
  await expectSaid(app, wheelchair.barcode, WHEELCHAIR_SEAT, /^Wheelchair place/m);
  await expectVerdictFits(page);
  await context.setOffline(true);
  await expectSaid(app, companion.barcode, COMPANION_SEAT, /^Companion seat/m);
  await expectVerdictFits(page);
});

test('each verdict says what to do: in, again, out, back in, cancelled, and without a network', async ({
  app,
  context,
  organization,
  page,
}) => {
  const { eventId } = await SeatedHouse.open(organization, { name: 'In and out', isLive: true });
  const venue = Venue.at(organization, eventId);
  const seats = ['B-1', 'B-2', 'B-3'];
  const [ticket, voided, stored] = await venue.importSeats('Full price', 'Stalls', seats);
  if (!ticket || !voided || !stored) throw new Error('the hall has no such seats');
  await venue.void(voided);
  const gate = await venue.openGate('north', 'North gate');
  await app.open(`#/pair/${await venue.pairingToken(gate, 'In and out')}`);
  await app.isReady();
  const choose = (direction: string) => page.getByText(direction, { exact: true }).first().click();
  const expectWord = async (text: string, word: string) => {
    expect((await app.scan(text)).text).toContain(word);
    await page.keyboard.press('Escape');
  };
  await expectWord(ticket.barcode, 'GO IN');
  await expectWord(ticket.barcode, 'Already scanned');
  await choose('Exit');
  await expectWord(ticket.barcode, 'GO OUT');
  await choose('Entry');
  await venue.setDuplicateWindow(0); // who just came in may come again
  await expectWord(ticket.barcode, 'WELCOME BACK');
  await expectWord(voided.barcode, 'Ticket cancelled');
  await context.setOffline(true);
  await expectWord(stored.barcode, 'GO IN');
});

async function expectSaid(app: ScannerApp, text: string, seat: string, note: RegExp) {
  const verdict = await app.scan(text);
  expect(verdict.light).not.toBe('red');
  expect(verdict.text).toContain(seat);
  expect(verdict.text).toMatch(note);
}

test('the bar says who is inside while somebody can know it, and how full the battery is', async ({
  context,
  page,
  paired: app,
  tickets,
}) => {
  const [first, second, third] = tickets;
  await app.scan(first.barcode);
  await app.scan(second.barcode);
  await expect(app.status('inside')).toHaveText('2 inside');
  await expect(app.status('gate')).toHaveText('2 by this gate');
  const hasBattery = await page.evaluate(() => 'getBattery' in navigator);
  if (hasBattery) await expect(app.status('battery')).toHaveText(/^Battery.*\d+%$/);
  await context.setOffline(true);
  await app.scan(third.barcode);
  await expect(page.getByRole('banner')).toContainText('Offline');
  await expect(app.status('inside')).toBeHidden();
  await expect(app.status('gate')).toBeHidden();
});

test('that a browser may delete the scans is said above them', async ({ page, paired: app }) => {
  const note = page.getByText('The browser may delete what this device keeps');
  await expect(note).toBeVisible();
  const recent = page.getByRole('heading', { name: 'Recent scans' });
  const [noted, listed] = [await note.boundingBox(), await recent.boundingBox()];
  expect(noted?.y).toBeLessThan(listed?.y ?? 0);
  expect(await app.verdicts()).toEqual([]);
});
