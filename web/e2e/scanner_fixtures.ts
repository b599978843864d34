import { test as watched } from './fixtures.ts';
import { deviceState, expect, ONLINE_WAIT_MS, ScannerApp } from './scanner_app.ts';
import { FakeCamera } from './scanner_camera.ts';
import { idsOf } from './scanner_kept.ts';
import { Venue, type Gate, type Ticket } from './venue.ts';

const TEST_MS_MAX = 420_000;
const TICKETS = 6;

interface Fixtures {
  patience: void;
  venue: Venue;
  gate: Gate;
  tickets: [Ticket, Ticket, Ticket, Ticket, Ticket, Ticket];
  /** How wrong the clock of the device is. */
  clockAheadMs: number;
  /** What somebody chose on the device before. */
  chosen: Record<string, unknown>;
  camera: FakeCamera;
  app: ScannerApp;
  /** The app, paired and with its ticket list. */
  paired: ScannerApp;
}

/** For each test an event of its own. */
export const test = watched.extend<Fixtures>({
  camera: async ({ cameraFile }, use) => {
    const camera = await FakeCamera.at(cameraFile);
    await use(camera);
    await camera.holdNothing();
  },

  locale: 'en-ZA',
  expectedComplaint: /Failed to load resource|WebSocket connection to/,

  chosen: [{ onlineWaitMs: ONLINE_WAIT_MS, hasCamera: false }, { option: true }],
  storageState: ({ server, chosen }, use) => use(deviceState(server.url, chosen)),

  venue: async ({ organization }, use) => use(await Venue.open(organization)),
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

  clockAheadMs: [0, { option: true }],

  /** Whatever a test does, nobody else is ever asked. */
  context: async ({ context, baseURL, clockAheadMs }, use) => {
    await context.clock.install({ time: Date.now() + clockAheadMs });
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
