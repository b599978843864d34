import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as watched } from './fixtures.ts';
import { OwnServer } from './own_server.ts';
import { cameraArguments } from './qr_video.ts';
import { deviceState, expect, ONLINE_WAIT_MS, ScannerApp } from './scanner_app.ts';
import { FakeCamera } from './scanner_camera.ts';
import { idsOf } from './scanner_kept.ts';
import { Venue, type Gate, type Ticket } from './venue.ts';

const START_MS_MAX = 300_000;
const TEST_MS_MAX = 420_000;
const TICKETS = 6;

interface Fixtures {
  patience: void;
  venue: Venue;
  gate: Gate;
  tickets: [Ticket, Ticket, Ticket, Ticket, Ticket, Ticket];
  /** What somebody chose on the device before. */
  chosen: Record<string, unknown>;
  camera: FakeCamera;
  app: ScannerApp;
  /** The app, paired and with its ticket list. */
  paired: ScannerApp;
}

interface WorkerFixtures {
  server: OwnServer;
  cameraFile: string;
}

/** One server and one camera for all of them, and for each test an event of its own. */
export const test = watched.extend<Fixtures, WorkerFixtures>({
  server: [
    async ({}, use) => {
      const server = await OwnServer.start({ VOELGOED_SYNC_BATCHES_PER_MINUTE_MAX: '1000' });
      await use(server);
      await server.close();
    },
    { scope: 'worker', timeout: START_MS_MAX },
  ],

  cameraFile: [
    async ({}, use) => {
      const directory = mkdtempSync(join(tmpdir(), 'voelgoed-camera-'));
      await use(join(directory, 'camera.y4m'));
      rmSync(directory, { recursive: true, force: true });
    },
    { scope: 'worker' },
  ],
  launchOptions: [
    ({ launchOptions, cameraFile }, use) => {
      const args = [...(launchOptions.args ?? []), ...cameraArguments(cameraFile)];
      return use({ ...launchOptions, args });
    },
    { scope: 'worker' },
  ],
  camera: async ({ cameraFile }, use) => {
    const camera = new FakeCamera(cameraFile);
    await use(camera);
    camera.remove();
  },

  baseURL: ({ server }, use) => use(server.url),
  locale: 'en-ZA',
  expectedComplaint: /Failed to load resource|WebSocket connection to/,

  chosen: [{ onlineWaitMs: ONLINE_WAIT_MS, hasCamera: false }, { option: true }],
  storageState: ({ server, chosen }, use) => use(deviceState(server.url, chosen)),

  venue: async ({ server }, use) => use(await Venue.open(server)),
  gate: async ({ venue }, use) => use(await venue.openGate('north', 'North gate')),
  tickets: async ({ venue }, use) =>
    use((await venue.importTickets(TICKETS)) as Fixtures['tickets']),

  patience: [
    async ({}, use, info) => {
      info.setTimeout(TEST_MS_MAX);
      await use();
    },
    { auto: true },
  ],

  /** Whatever a test does, nobody else is ever asked. */
  context: async ({ context, baseURL }, use) => {
    const elsewhere: string[] = [];
    context.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'blob:' && origin !== baseURL) elsewhere.push(request.url());
    });
    await use(context);
    expect(elsewhere).toEqual([]);
  },

  app: async ({ page }, use) => use(await ScannerApp.in(page)),
  paired: async ({ app, venue, gate, tickets }, use) => {
    if (tickets.length !== TICKETS) throw new Error('the ticket list would not have them');
    await app.open();
    await app.pairByTyping(await venue.pairingToken(gate, 'Phone'));
    await use(app);
  },
});

/** The server has what the device made: all of it, once, and nothing else. */
export async function expectAllOnce(venue: Venue, app: ScannerApp): Promise<void> {
  const { pending, synced } = await app.kept();
  expect(pending).toEqual([]);
  await expectOnce(venue, idsOf(synced));
}

export async function expectOnce(venue: Venue, scanIds: string[]): Promise<void> {
  expect((await venue.scans()).map(({ id }) => id).sort()).toEqual(scanIds);
}

export { expect };
