import { defineConfig } from '@playwright/test';
import tests from '../playwright.config.ts';

/** Figures of the apps, one after the other so that none disturbs another; `npm run bench` prints them. */
export default defineConfig(tests, {
  testDir: '.',
  testMatch: '*.bench.ts',
  workers: 1,
  fullyParallel: false,
  reporter: 'list',
});
