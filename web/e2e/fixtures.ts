import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type BrowserContext, type Page } from '@playwright/test';
import type { Organization } from './organization.ts';
import { cameraArguments } from './qr_video.ts';
import { TestServer } from './test_server.ts';

const START_MS_MAX = 300_000;
/** Where E2E_DELAY_MS is set, so long the page that was left is still there after a click on a link. */
const LEAVE_MS = 250;
/** The browser's word for a page that was left before its live connection stood. */
const LEFT_EARLY = /WebSocket is closed before the connection is established/;

interface Fixtures {
  /** The complaint of the browser that a test provokes on purpose. */
  expectedComplaint: RegExp | undefined;
  /** Set by tests that change an organisation as a whole: its people, policies or payments. */
  hasOwnOrganization: boolean;
  /** Everything that a test makes belongs to it, except what is about the demo. */
  organization: Organization;
  /** Somebody else, in a browser of their own. */
  otherPage: Page;
  watch: (page: Page) => void;
}

interface WorkerFixtures {
  server: TestServer;
  /** Of all tests of a worker that do not want one of their own. */
  sharedOrganization: Organization;
  /** A video that the browser takes for what its camera sees. */
  cameraFile: string;
}

/**
 * One server, one browser and one organisation for all tests of a worker. Whatever is started for a
 * worker is here and nowhere else: tests that need different things get workers of their own.
 *
 * A test fails when a page logs an error, throws, or breaks the Content-Security-Policy.
 */
export const test = base.extend<Fixtures, WorkerFixtures>({
  server: [
    async ({}, use, info) => {
      const server = await TestServer.start(info.parallelIndex);
      await use(server);
      await server.close();
    },
    { scope: 'worker', timeout: START_MS_MAX },
  ],
  sharedOrganization: [
    async ({ server }, use) => use(await server.createOrganization('Die Skuur')),
    { scope: 'worker' },
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

  baseURL: ({ server }, use) => use(server.url),
  hasOwnOrganization: [false, { option: true }],
  organization: async ({ server, sharedOrganization, hasOwnOrganization }, use) =>
    use(hasOwnOrganization ? await server.createOrganization('Ons Eie') : sharedOrganization),

  expectedComplaint: [undefined, { option: true }],
  watch: [
    async ({ expectedComplaint }, use) => {
      const complaints: string[] = [];
      await use((page) => {
        page.on('pageerror', (error) => complaints.push(String(error)));
        page.on('console', (message) => {
          if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
        });
      });
      const isExpected = (text: string) => LEFT_EARLY.test(text) || expectedComplaint?.test(text);
      expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
    },
    { auto: true },
  ],

  context: async ({ context }, use) => {
    await delayLeaving(context);
    await use(context);
  },

  page: async ({ page, watch }, use) => {
    watch(page);
    await use(page);
  },

  otherPage: async ({ browser, baseURL, watch }, use) => {
    const context = await browser.newContext({ ...(baseURL && { baseURL }) });
    await delayLeaving(context);
    const page = await context.newPage();
    watch(page);
    await use(page);
    await context.close();
  },
});

async function delayLeaving(context: BrowserContext): Promise<void> {
  if (process.env.E2E_DELAY_MS) await context.addInitScript(leaveLate, LEAVE_MS);
}

/** A test that clicks a link and goes on at once finds the old page, where that has what it looks for. */
function leaveLate(ms: number): void {
  const listen = window.addEventListener.bind(window) as typeof window.addEventListener;
  const later = window.setTimeout.bind(window);
  window.addEventListener = ((type: string, heard: EventListener, options?: object) =>
    type === 'hashchange'
      ? listen(type, (event) => later(() => heard(event), ms), options)
      : listen(type, heard, options)) as typeof window.addEventListener;
}

export { expect };
