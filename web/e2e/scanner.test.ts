import { expect, expectAllOnce, test } from './scanner_fixtures.ts';

/** A device without a server tries again at least as often. */
const TRIES_AGAIN_MS = 30_000;

test('a gate goes on while the server is away, and nothing is lost or counted twice', async ({
  app,
  camera,
  gate,
  page,
  server,
  tickets,
  venue,
}) => {
  const [first, second, third, fourth, fifth, sixth] = tickets;

  await test.step('it is paired and fetches its ticket list', async () => {
    await app.open();
    await app.pairByTyping(await venue.pairingToken(gate, 'Phone'));
    await expect(page.getByRole('banner')).toContainText('North gate');
    await expect(page.getByRole('banner')).toContainText('Online');
  });

  await test.step('the camera lets somebody in, once', async () => {
    await camera.holdBefore(app, first.barcode, async () => {
      expect(await app.verdictAfter(0)).toMatchObject({ light: 'green' });
      const again = await app.verdictAfter(1);
      expect(again.light).toBe('red');
      expect(again.text).toMatch(/Last scanned .*\d/);
      expect(again.text).toContain('at North gate');
    });
  });

  await test.step('the server is killed in the middle of a scan', async () => {
    const [verdict] = await Promise.all([app.scan(second.barcode), server.kill()]);
    expect(['green', 'yellow']).toContain(verdict.light);
  });

  await test.step('without it the device decides by its list and what it saw', async () => {
    expect(await app.scan(third.barcode)).toMatchObject({ light: 'yellow' });
    await expect(page.getByRole('banner')).toContainText('Offline');
    for (const ticket of [first, second, third]) {
      expect(await app.scan(ticket.barcode)).toMatchObject({ light: 'red' });
    }
    const count = (await app.verdicts()).length;
    await camera.holdBefore(app, fourth.barcode, async () => {
      expect(await app.verdictAfter(count)).toMatchObject({ light: 'yellow' });
      expect(await app.verdictAfter(count + 1)).toMatchObject({ light: 'red' });
    });
  });

  await test.step('the app starts without a network and knows what it knew', async () => {
    const before = await app.kept();
    await page.reload();
    await app.isReady();
    await expect(page.getByRole('banner')).toContainText('Offline');
    const { pending } = await app.kept();
    expect(pending.length).toBe(before.pending.length);
    expect(await app.scan(fifth.barcode)).toMatchObject({ light: 'yellow' });
    expect(await app.scan(fourth.barcode)).toMatchObject({ light: 'red' });
  });

  await test.step('the server is back, and hears of everything by itself', async () => {
    await server.start();
    await app.passTime(TRIES_AGAIN_MS);
    await app.hasSentAll();
    await expectAllOnce(venue, app);
    const inside = (await venue.scans()).filter(({ status }) => status === 'admitted');
    const admitted = [first, second, third, fourth, fifth].map(({ id }) => id);
    expect(inside.map((scan) => scan.ticket_id).sort()).toEqual(admitted.sort());
    expect(await app.scan(sixth.barcode)).toMatchObject({ light: 'green' });
  });
});
