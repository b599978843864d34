import { expect, expectAllOnce, test } from './scanner_fixtures.ts';

/** What a busy machine may need between a look at its clock and the scan. */
const OFF_MS_MAX = 10_000;

const clocks = [
  { name: '15 s ahead', aheadMs: 15_000, said: /^Clock 1[456] s off, corrected$/ },
  { name: '10 min behind', aheadMs: -600_000, said: /^Clock 10 min off, corrected$/ },
];

for (const { name, aheadMs, said } of clocks) {
  test.describe(`a clock that is ${name}`, () => {
    test.use({ clockAheadMs: aheadMs });

    test('is shown as corrected, and no scan has its error', async ({
      context,
      paired: app,
      tickets,
      venue,
    }) => {
      await expect(app.status('clock')).toHaveText(said);
      const began = Date.now();
      // The server refuses to hear of a moment that is minutes off, and is told the right one.
      expect(await app.scan(tickets[0].barcode)).toMatchObject({ light: 'green' });
      await context.setOffline(true);
      expect(await app.scan(tickets[1].barcode)).toMatchObject({ light: 'yellow' });
      expect(await app.scan(tickets[0].barcode)).toMatchObject({ light: 'red' });
      const ended = Date.now();
      await context.setOffline(false);
      await app.hasSentAll();
      await expectAllOnce(venue, app);
      for (const { scanned_at_canonical } of await venue.scans()) {
        const at = Date.parse(scanned_at_canonical);
        expect(at).toBeGreaterThan(began - OFF_MS_MAX);
        expect(at).toBeLessThan(ended + OFF_MS_MAX);
      }
    });
  });
}
