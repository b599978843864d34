import { writeFileSync } from 'node:fs';
import { chromium, type Page } from '@playwright/test';
import { BareDevice } from '../e2e/dashboard_device.ts';
import { expect, test } from '../e2e/fixtures.ts';
import { picturePath } from './picture_path.ts';
import { cameraArguments, qrVideo } from '../e2e/qr_video.ts';
import { deviceState, ONLINE_WAIT_MS, ScannerApp } from '../e2e/scanner_app.ts';
import { Venue, type Ticket } from '../e2e/venue.ts';

// A guide that shows them all must still open at once.
const SHEET_BYTES_MAX = 150_000;
const SCREENS = [
  { screen: 'phone', viewport: { width: 390, height: 844 }, shownWidth: 220 },
  { screen: 'tablet', viewport: { width: 820, height: 1180 }, shownWidth: 240 },
] as const;
const SCHEMES = ['light', 'dark'] as const;
/** Of the demo's festival: places with something to say about them. */
const NOTED_SEATS = ['O-A-9', 'O-A-22', 'O-A-10', 'O-A-21'];
const QUEUED = 4;

interface Picture {
  title: string;
  png: Buffer;
}

test.use({ expectedComplaint: /ERR_INTERNET_DISCONNECTED/ });
test.setTimeout(300_000);

let festival: Venue;
let gate: { id: string };
let tickets: Ticket[][];
test.beforeAll(async ({ server }) => {
  test.setTimeout(300_000);
  const { event_id, gates } = server.demo;
  festival = Venue.at(server.demoOrganization, event_id);
  gate = gates[0]!;
  const seats = combinations().map((_, place) => seatsOf(place));
  const imported = await festival.importSeats('Weekend seat', 'Orchestra', seats.flat());
  await expectListed(imported);
  tickets = seats.map((each) => imported.splice(0, each.length));
});

for (const [place, { screen, viewport, shownWidth, colorScheme }] of combinations().entries()) {
  test(`on a ${screen}, in ${colorScheme}`, async ({ launchOptions, baseURL, watch }, info) => {
    const [noted, seen, voided, stored, ...queued] = tickets[place] ?? [];
    if (!noted || !seen || !voided || !stored) throw new Error('the demo has no such seats');
    await festival.void(voided);
    await festival.setDuplicateWindow(300);

    const video = info.outputPath('ticket.y4m');
    writeFileSync(video, await qrVideo([{ text: seen.barcode, seconds: 1 }], 0));
    const args = [...(launchOptions.args ?? []), ...cameraArguments(video)];
    const browser = await chromium.launch({ ...launchOptions, args });
    const storageState = deviceState(baseURL ?? '', { onlineWaitMs: ONLINE_WAIT_MS });
    const given = { baseURL: baseURL ?? '', viewport, colorScheme, storageState };
    const context = await browser.newContext(given);
    await context.clock.install();
    const page = await context.newPage();
    watch(page);
    const app = await ScannerApp.in(page);

    const shot = async (title: string): Promise<Picture> => {
      const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
      writeFileSync(info.outputPath(`${title}.png`), png);
      return { title, png };
    };
    const verdict = async (title: string, text: string, word: string) => {
      expect((await app.scan(text)).text).toContain(word);
      return shot(title);
    };

    await page.goto('/scanner/');
    await expect(page.getByRole('heading', { name: 'Pair this device' })).toBeVisible();
    const pairing = await shot('Pairing');

    const token = await festival.pairingToken(gate, `${screen} ${colorScheme}`);
    await page.goto('about:blank');
    await page.goto(`/scanner/#/pair/${token}`);
    expect((await app.verdictAfter(0)).text).toContain('GO IN'); // what the camera sees
    await page.keyboard.press('Escape');
    await expect(page.getByRole('listitem').getByText('O-')).toBeVisible();
    const scanning = await shot('Scan');

    await page.getByRole('button', { name: 'Camera off' }).click();
    await app.isIdle(); // on a busy machine the camera may see it once more
    await app.keepVerdicts();
    const entry = await verdict('Entry', noted.barcode, 'GO IN');
    const duplicate = await verdict('Duplicate', noted.barcode, 'Already scanned');
    await choose(page, 'Exit');
    const exit = await verdict('Exit', noted.barcode, 'GO OUT');
    await choose(page, 'Entry');
    await festival.setDuplicateWindow(0); // who just came in may come again
    const back = await verdict('Re-entry', noted.barcode, 'WELCOME BACK');
    const invalid = await verdict('Invalid', voided.barcode, 'Ticket cancelled');
    await context.setOffline(true);
    const alone = await verdict('Without a network', stored.barcode, 'GO IN');
    for (const { barcode } of queued) await verdict('queued', barcode, 'GO IN');
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Queue' }).click();
    await expect(page.getByRole('heading', { name: 'Waiting to be sent' })).toBeVisible();
    const queue = await shot('Queue');
    await page.getByRole('link', { name: 'Settings' }).click();
    const settings = await shot('Settings');

    const sheet = (name: string, pictures: Picture[]) =>
      takeSheet(page, `scanner-${name}-${screen}-${colorScheme}`, pictures, shownWidth);
    await page.setViewportSize({ width: 1600, height: 900 });
    await sheet('verdicts', [entry, back, exit, alone, duplicate, invalid]);
    await sheet('pages', [pairing, scanning, queue, settings]);
    await browser.close();
  });
}

/** Whoever fetched a ticket list just before, in another test, has made one that others get for a while. */
async function expectListed(imported: Ticket[]): Promise<void> {
  const token = await festival.pairingToken(gate, 'Looks for new tickets');
  const device = await BareDevice.pair(festival.organization, token);
  const missing = async () => {
    const listed = await device.listed(festival.eventId);
    return imported.filter(({ id }) => !listed.has(id)).length;
  };
  await expect.poll(missing, { timeout: 60_000 }).toBe(0);
}

function combinations() {
  return SCREENS.flatMap((screen) => SCHEMES.map((colorScheme) => ({ ...screen, colorScheme })));
}

/** A row for each combination. */
function seatsOf(place: number): string[] {
  const row = 'FGHJ'[place];
  const others = Array.from({ length: 3 + QUEUED }, (_, seat) => `O-${row}-${seat + 1}`);
  return [NOTED_SEATS[place] ?? '', ...others];
}

async function choose(page: Page, direction: 'Entry' | 'Exit'): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByText(direction, { exact: true }).first().click();
}

/** Side by side, smaller than they are. */
async function takeSheet(page: Page, name: string, pictures: Picture[], width: number) {
  const figures = pictures.map(
    ({ title, png }) => `<figure><img width="${width}" alt=""
      src="data:image/png;base64,${png.toString('base64')}"><figcaption>${title}</figcaption></figure>`,
  );
  await page.goto('about:blank');
  await page.setContent(`<style>
    body { margin: 0; background: #fff; color: #1c2230; font: 600 15px system-ui, sans-serif; }
    #sheet { display: inline-flex; gap: 16px; padding: 16px; }
    figure { margin: 0; text-align: center; }
    img { display: block; margin-bottom: 8px; border: 1px solid #999; border-radius: 10px; }
  </style><div id="sheet">${figures.join('')}</div>`);
  const sheet = await page.locator('#sheet').screenshot({ path: picturePath(name) });
  expect(sheet.length, name).toBeLessThan(SHEET_BYTES_MAX);
}
