import { defineConfig } from '@playwright/test';

const TEST_MS_MAX = 180_000;
const SOON_MS = 30_000;

// The workers load this file too and must find what the first process chose.
if (process.env.E2E_DELAY_MS && !process.env.E2E_SEED) {
  process.env.E2E_SEED = String(Math.floor(Math.random() * 1_000_000));
  console.log(`Every request is delayed: E2E_SEED=${process.env.E2E_SEED}`);
}

export default defineConfig({
  testDir: 'e2e',
  workers: 2,
  fullyParallel: true,
  // A busy machine is slow, which is no fault of the apps.
  timeout: TEST_MS_MAX,
  expect: { timeout: SOON_MS },
  reporter: [['list'], ['./e2e/slowest_reporter.ts']],
  use: {
    // Nobody at the venue: every date must still be on the venue's clock.
    timezoneId: 'Pacific/Auckland',
    trace: process.env.E2E_TRACE ? 'retain-on-failure' : 'off',
    launchOptions: {
      executablePath: process.env.VOELGOED_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
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
});
