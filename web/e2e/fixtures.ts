import { test as base, expect, type Page } from '@playwright/test';

/** The browser's word for a page that was left before its live connection stood. */
const LEFT_EARLY = /WebSocket is closed before the connection is established/;

interface Fixtures {
  /** The complaint of the browser that a test provokes on purpose. */
  expectedComplaint: RegExp | undefined;
  /** Somebody else, in a browser of their own. */
  otherPage: Page;
  watch: (page: Page) => void;
}

/** A test fails when a page logs an error, throws, or breaks the Content-Security-Policy. */
export const test = base.extend<Fixtures>({
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

  page: async ({ page, watch }, use) => {
    watch(page);
    await use(page);
  },

  otherPage: async ({ browser, baseURL, watch }, use) => {
    const context = await browser.newContext({ ...(baseURL && { baseURL }) });
    const page = await context.newPage();
    watch(page);
    await use(page);
    await context.close();
  },
});

export { expect };
