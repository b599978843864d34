import { defineConfig } from '@playwright/test';
import tests from '../playwright.config.ts';

/** The pictures of the guides, into docs/pictures; `npm run pictures` takes them. */
export default defineConfig(tests, {
  testDir: '.',
  testMatch: '*.pictures.ts',
  workers: 1,
  fullyParallel: false,
  reporter: 'list',
});
