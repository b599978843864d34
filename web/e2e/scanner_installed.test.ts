import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { ScannerApp } from './scanner_app.ts';
import { expect, test } from './scanner_fixtures.ts';
import { LargeManifest } from './large_manifest.ts';
import { loadedFiles, shellSizes } from './scanner_shell.ts';

const SHELL_BYTES_MAX = 300_000;

test('an installed app starts without a server, in a browser that was closed meanwhile', async ({
  gate,
  launchOptions,
  server,
  tickets,
  venue,
  watch,
}) => {
  const profile = mkdtempSync(join(tmpdir(), 'voelgoed-profile-'));
  const open = async () => {
    const options = { ...launchOptions, baseURL: server.url };
    const context = await chromium.launchPersistentContext(profile, options);
    const page = await context.newPage();
    watch(page);
    return { context, app: await ScannerApp.in(page) };
  };
  try {
    const first = await open();
    await first.app.open();
    await first.app.pairByTyping(await venue.pairingToken(gate, 'Restarted'));
    await first.app.page.waitForFunction(
      () => navigator.serviceWorker.controller?.state === 'activated',
    );
    await first.context.close();

    const { context, app } = await open();
    await context.setOffline(true);
    await app.open();
    await app.isReady();
    await expect(app.page.getByRole('banner')).toContainText('Offline');
    expect(await app.scan(tickets[0].barcode)).toMatchObject({ light: 'yellow' });
    const files = await loadedFiles(app.page);
    expect(files.length).toBeGreaterThan(2);
    expect(shellSizes(files).shell_gzip_bytes).toBeLessThan(SHELL_BYTES_MAX);
    await context.close();
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
});

for (const count of [20_000, 200_000]) {
  test.describe(`with ${count} tickets in its list`, () => {
    // What a service worker asks for is not routed.
    test.use({
      serviceWorkers: 'block',
      expectedComplaint: /Failed to load resource|WebSocket connection to|registration blocked/,
    });

    test('a ticket is decided about without a network, once', async ({
      app,
      context,
      gate,
      server,
      tickets,
      venue,
    }) => {
      const large = await LargeManifest.of(count, server.url);
      await large.serveTo(context);
      await app.open();
      await app.startPairing(await venue.pairingToken(gate, 'Phone'));
      await app.hasList();
      expect((await app.kept()).manifest?.tickets).toHaveLength(count);
      await context.setOffline(true);
      for (const light of ['yellow', 'red']) {
        for (const { barcode } of tickets) expect(await app.scan(barcode)).toMatchObject({ light });
      }
      large.close();
    });
  });
}
