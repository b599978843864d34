import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const TEST_MS_MAX = 180_000;
const SOON_MS = 30_000;
const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;

// The workers load this file too and must find what the first process chose, so both
// choices travel in the environment. The server accepts no VOELGOED_ name it does not know.
process.env.E2E_PORT ??= String(await freePort());
process.env.VOELGOED_DATA = process.env.E2E_DATA ??= freshDirectory();

const url = `http://127.0.0.1:${process.env.E2E_PORT}`;

export default defineConfig({
  testDir: 'e2e',
  workers: 1,
  // A busy machine is slow, which is no fault of the apps.
  timeout: TEST_MS_MAX,
  expect: { timeout: SOON_MS },
  reporter: 'list',
  use: {
    baseURL: url,
    // Nobody at the venue: every date must still be on the venue's clock.
    timezoneId: 'Pacific/Auckland',
    trace: 'retain-on-failure',
    launchOptions: {
      executablePath: process.env.VOELGOED_CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  webServer: {
    command: `../.venv/bin/voelgoed up --port ${process.env.E2E_PORT}`,
    url: `${url}/health/ready`,
    timeout: START_TIMEOUT_MS,
    gracefulShutdown: { signal: 'SIGINT', timeout: STOP_TIMEOUT_MS },
  },
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'voelgoed-e2e-'));
  // The server stops before this process does.
  process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}
