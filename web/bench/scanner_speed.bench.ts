import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from '@playwright/test';
import { expect, test } from '../e2e/fixtures.ts';
import { LargeManifest } from '../e2e/large_manifest.ts';
import { loadedFiles, shellSizes } from '../e2e/scanner_shell.ts';
import type { TestServer } from '../e2e/test_server.ts';
import {
  addTiming,
  bareFrame,
  bareLoad,
  present,
  readyMs,
  steps,
  type Shown,
} from './scanner_timing.ts';
import { Venue, type Gate, type Ticket } from '../e2e/venue.ts';

const TICKETS = 20_000;
const MANY_TICKETS = 200_000;
/** Shown one after the other; some of them once more. */
const SHOWN = 120;
const SHOWN_AGAIN = 30;
const WARM_UP = 5;
const ROUNDS = 5;
/** Without a file something moves before the camera all the time, and is looked at for codes. */
const CAMERA_FILE = '--use-file-for-fake-video-capture';
const TEST_MS_MAX = 600_000;

// Figures, and no limits on times: these machines are noisy. What is measured must have happened.
test.use({
  expectedComplaint:
    /ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED|registration blocked by Playwright/,
  launchOptions: async ({ launchOptions }, use) => {
    const args = launchOptions.args?.filter((each) => !each.startsWith(CAMERA_FILE)) ?? [];
    await use({ ...launchOptions, args });
  },
});
test.describe.configure({ timeout: TEST_MS_MAX });

let server: TestServer;
let venue: Venue;
let gate: Gate;
let tickets: Ticket[];

test.beforeAll(async ({ server: started, sharedOrganization }) => {
  test.setTimeout(TEST_MS_MAX);
  server = started;
  venue = await Venue.open(sharedOrganization);
  gate = await venue.openGate('north', 'North gate');
  tickets = await venue.importTickets(TICKETS, SHOWN);
});

test('a ticket list is verified, kept and ready', async ({ browser, watch }) => {
  const rounds: Record<string, number>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const context = await browser.newContext({ baseURL: server.url });
    const page = await pairedPage(context, watch, `Hydrated ${round}`);
    rounds.push(await hydration(page));
    await context.close();
  }
  print(`hydration of ${TICKETS} tickets after download`, summary(rounds));
  expect(rounds).toHaveLength(ROUNDS);
});

for (const [count, name] of [
  [TICKETS, 'a house'],
  [MANY_TICKETS, 'a stadium and its season'],
] as const) {
  test(`without a network, a ticket of ${name} is decided about`, async ({ browser, watch }) => {
    const large = count > TICKETS ? await LargeManifest.of(count, server.url) : null;
    // What a service worker asks for is not routed.
    const serviceWorkers = large ? 'block' : 'allow';
    const context = await browser.newContext({ baseURL: server.url, serviceWorkers });
    await large?.serveTo(context);
    const page = await pairedPage(context, watch, `Alone with ${count}`);
    if (large) print(`hydration of ${count} tickets after download`, await hydration(page));
    print(`memory with ${count} tickets`, { heap_mb: await heapMb(page) });
    await context.setOffline(true);
    const { shown, bare } = await showAll(page);
    expect(shown.slice(0, SHOWN).map(({ light }) => light)).toEqual(Array(SHOWN).fill('yellow'));
    expect(shown.slice(SHOWN).map(({ light }) => light)).toEqual(Array(SHOWN_AGAIN).fill('red'));
    const times = shown.map(({ ms }) => ms);
    print(`offline decision with ${count} tickets, text to paint`, {
      scans: times.length,
      p50_ms: percentile(times, 50),
      p95_ms: percentile(times, 95),
      bare_frame_p50_ms: percentile(bare, 50),
      bare_frame_p95_ms: percentile(bare, 95),
      ratio_to_bare_frame_p50: percentile(times, 50) / percentile(bare, 50),
      ratio_to_bare_frame_p95: percentile(times, 95) / percentile(bare, 95),
    });
    await context.close();
    large?.close();
  });
}

test('an installed app starts without a server', async ({ watch, launchOptions }) => {
  const profile = mkdtempSync(join(tmpdir(), 'voelgoed-profile-'));
  const open = async () => {
    const options = { ...launchOptions, baseURL: server.url };
    const context = await chromium.launchPersistentContext(profile, options);
    await addTiming(context);
    return context;
  };
  try {
    let context = await open();
    await pair(await newPage(context, watch), 'Restarted');
    await installed(context);
    await context.close();
    await server.kill();

    const rounds: Record<string, number>[] = [];
    const files = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      context = await open();
      const page = await newPage(context, watch);
      await page.goto('/scanner/');
      const ready_ms = await readyMs(page);
      const { read_ms, parse_ms } = await bareLoad(page);
      const bare_ms = read_ms + parse_ms;
      rounds.push({ ready_ms, bare_ms, ratio_to_bare: ready_ms / bare_ms });
      for (const name of await loadedFiles(page)) files.add(name);
      await expect(page.locator('.reach.offline')).toBeVisible();
      await context.close();
    }
    print(`cold offline start with ${TICKETS} tickets`, summary(rounds));
    printShell([...files].sort());
  } finally {
    await server.start();
    rmSync(profile, { recursive: true, force: true });
  }
});

type Watch = (page: Page) => void;

async function pairedPage(context: BrowserContext, watch: Watch, name: string): Promise<Page> {
  await addTiming(context);
  const page = await newPage(context, watch);
  await pair(page, name);
  return page;
}

async function newPage(context: BrowserContext, watch: Watch): Promise<Page> {
  const page = await context.newPage();
  watch(page);
  return page;
}

/** And hydrated. */
async function pair(page: Page, name: string): Promise<void> {
  await page.goto(`/scanner/#/pair/${await venue.pairingToken(gate, name)}`);
  await readyMs(page);
  await expect(page.getByText('North gate')).toBeVisible();
}

/** From the last byte of the manifest to the moment at which the page says that it has one. */
async function hydration(page: Page): Promise<Record<string, number>> {
  const ended = await page.evaluate(() => {
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return entries.find(({ name }) => name.includes('/manifest?'))?.responseEnd ?? NaN;
  });
  const all_ms = (await readyMs(page)) - ended;
  const { verify, parse, store } = await steps(page);
  const bare_ms = (await bareLoad(page)).parse_ms;
  const ms = (done: typeof verify) =>
    done
      .filter(({ began }) => began >= ended)
      .reduce((sum, step) => sum + step.ended - step.began, 0);
  const split = { verify_ms: ms(verify), parse_ms: ms(parse), store_ms: ms(store) };
  const other_ms = all_ms - split.verify_ms - split.parse_ms - split.store_ms;
  return { all_ms, ...split, other_ms, bare_ms, ratio_to_bare: all_ms / bare_ms };
}

/** Of what is still used. */
async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1e6;
}

async function showAll(page: Page): Promise<{ shown: Shown[]; bare: number[] }> {
  for (const { barcode } of tickets.slice(0, WARM_UP)) await present(page, `not ${barcode}`);
  const texts = [...tickets, ...tickets.slice(0, SHOWN_AGAIN)].map(({ barcode }) => barcode);
  const shown: Shown[] = [];
  const bare: number[] = [];
  for (const text of texts) {
    shown.push(await present(page, text));
    bare.push(await bareFrame(page));
  }
  return { shown, bare };
}

/** Every file of the app is on the device. */
async function installed(context: BrowserContext): Promise<void> {
  const [page] = context.pages().slice(-1);
  await page?.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
}

function printShell(files: string[]): void {
  const sizes = shellSizes(files);
  const ratio_to_wasm = sizes.shell_gzip_bytes / sizes.wasm_gzip_bytes;
  print('app shell', { ...sizes, ratio_to_wasm });
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? NaN;
}

/** Each part's median, and the worst of the first. */
function summary(rounds: Record<string, number>[]): Record<string, number> {
  const parts = Object.keys(rounds[0] ?? {});
  const of = (part: string) => rounds.map((round) => round[part] ?? NaN);
  const medians = parts.map((part) => [part, percentile(of(part), 50)] as const);
  const worst = Math.max(...of(parts[0] ?? ''));
  return { rounds: rounds.length, ...Object.fromEntries(medians), worst };
}

function print(figure: string, measured: object): void {
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value;
  console.log(JSON.stringify({ bench: 'scanner', case: figure, ...measured }, rounded));
}
