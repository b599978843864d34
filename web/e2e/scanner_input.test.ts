import type { Page } from '@playwright/test';
import { stretchTimers } from './scanner_app.ts';
import { expect, expectAllOnce, test } from './scanner_fixtures.ts';

/** After so long a pause the app takes a text for finished. */
const KEY_GAP_MS = 120;
/** Between two keys of a hand scanner. */
const SCANNER_MS = 5;
/** So long a verdict to go in stays. */
const GREEN_MS = 2_000;
const ENTER = { key: 'Enter', code: 'Enter', text: '\r', windowsVirtualKeyCode: 13 };
/** Which is how a line feed is typed. */
const CONTROL_J = { key: 'j', code: 'KeyJ', text: '', windowsVirtualKeyCode: 74, modifiers: 2 };

test('what a hand scanner types is scanned, and its Enter clicks nothing', async ({
  page,
  paired: app,
  tickets,
  venue,
}) => {
  const [ticket] = tickets;
  const practice = page.getByRole('button', { name: 'Start practice' });
  await app.goTo('Settings');
  await practice.focus();
  await typeFast(page, ticket.barcode);
  expect(await app.verdictAfter(0)).toMatchObject({ light: 'green' });
  await expect(practice).toBeFocused();
  await expectAllOnce(venue, app);
});

test('a hand scanner that ends with a line feed, and reads twice, lets a ticket in once', async ({
  page,
  paired: app,
  tickets,
  venue,
}) => {
  const [ticket, next] = tickets;
  await typeFast(page, ticket.barcode, CONTROL_J);
  await typeFast(page, ticket.barcode, CONTROL_J);
  expect(await app.verdictAfter(0)).toMatchObject({ light: 'green' });
  await typeFast(page, next.barcode, CONTROL_J);
  expect(await app.verdictAfter(1)).toMatchObject({ light: 'green' });
  await expectAllOnce(venue, app);
});

/**
 * By the browser itself, and without waiting for each key: a scanner does not. Each key says when it
 * was pressed, and no pause ends the text, for a busy machine may take a while from one to the next.
 */
async function typeFast(page: Page, text: string, end = ENTER): Promise<void> {
  await page.evaluate(stretchTimers, { [KEY_GAP_MS]: 60_000 });
  const keyboard = await page.context().newCDPSession(page);
  const began = Date.now();
  const keys = [...text].map((key) => ({ key, text: key }));
  await Promise.all(
    [...keys, end].flatMap((key, place) => {
      const timestamp = (began + place * SCANNER_MS) / 1_000;
      return [
        keyboard.send('Input.dispatchKeyEvent', { type: 'keyDown', timestamp, ...key }),
        keyboard.send('Input.dispatchKeyEvent', { type: 'keyUp', timestamp, key: key.key }),
      ];
    }),
  );
}

test('a code may be typed as people type, and what is none is not scanned', async ({
  page,
  paired: app,
  tickets,
  venue,
}) => {
  const [ticket, other] = tickets;
  const field = page.getByLabel('Ticket code');
  await page.getByRole('button', { name: 'Type a code' }).click();
  await field.fill('3KQR-7F92');
  await field.press('Enter');
  await expect(page.getByText('That is no ticket code.')).toBeVisible();
  expect(await app.verdicts()).toEqual([]);
  await field.fill(ticket.code.toLowerCase().replaceAll('-', ' '));
  await expect(field).toHaveValue(ticket.code);
  await field.press('Enter');
  expect(await app.verdictAfter(0)).toMatchObject({ light: 'green' });
  await field.fill(` ${other.code.replaceAll('-', '.')} `);
  await field.press('Enter');
  expect(await app.verdictAfter(1)).toMatchObject({ light: 'green' });
  await expect(field).toHaveValue('');
  await expectAllOnce(venue, app);
});

test('a verdict goes by itself, and the next ticket does not wait for that', async ({
  paired: app,
  tickets,
}) => {
  const [first, second] = tickets;
  await app.scan(first.barcode);
  expect(await app.scan(second.barcode)).toMatchObject({ light: 'green' });
  await expect(app.verdict).toBeVisible();
  await app.passTime(GREEN_MS);
  await expect(app.verdict).toBeHidden();
  await expect(app.page.getByRole('listitem').filter({ hasText: second.code })).toBeVisible();
});

test('whoever leaves is scanned out, and may not come back with a ticket for one entry', async ({
  page,
  paired: app,
  tickets,
  venue,
}) => {
  const [ticket, stranger] = tickets;
  expect((await app.scan(ticket.barcode)).text).toContain('GO IN');
  await page.getByText('Exit', { exact: true }).click();
  await expect(page.getByText('EXIT: people are leaving')).toBeVisible();
  const out = await app.scan(ticket.barcode);
  expect(out.light).toBe('green');
  expect(out.text).toContain('GO OUT');
  expect(await app.scan(stranger.barcode)).toMatchObject({ light: 'red' });
  await page.getByText('Entry', { exact: true }).first().click();
  await expect(page.getByText('EXIT: people are leaving')).toBeHidden();
  const back = await app.scan(ticket.barcode);
  expect(back.light).toBe('red');
  expect(back.text).toMatch(/Left \d\d:\d\d\./);
  expect(back.text).not.toContain('May return');
  await expectAllOnce(venue, app);
});

test('whoever left and comes back too early reads from when they may return, online and offline', async ({
  app,
  context,
  gate,
  page,
  venue,
}) => {
  const ticket = await venue.importReturning();
  await app.open();
  await app.pairByTyping(await venue.pairingToken(gate, 'Phone'));
  await app.keepVerdicts();
  expect((await app.scan(ticket.barcode)).light).toBe('green');
  await page.keyboard.press('Escape');
  await page.getByText('Exit', { exact: true }).click();
  expect((await app.scan(ticket.barcode)).text).toContain('GO OUT');
  await page.keyboard.press('Escape');
  await page.getByText('Entry', { exact: true }).first().click();
  const expectWhen = async () => {
    const { light, text } = await app.scan(ticket.barcode);
    expect(light).toBe('red');
    expect(text).toContain('Too early to return');
    expect(text).toMatch(/Left \d\d:\d\d\.\s*May return from \d\d:\d\d\./);
    await page.keyboard.press('Escape');
  };
  await expectWhen();
  await context.setOffline(true);
  await expectWhen();
});

test('practice decides as always and records nothing, here or there', async ({
  page,
  paired: app,
  tickets,
  venue,
}) => {
  const [ticket] = tickets;
  await app.goTo('Settings');
  await page.getByRole('button', { name: 'Start practice' }).click();
  await app.goTo('Scan');
  await expect(page.getByText('PRACTICE: nothing is recorded')).toBeVisible();
  for (const light of ['green', 'green']) {
    const verdict = await app.scan(ticket.barcode);
    expect(verdict.light).toBe(light);
    expect(verdict.text).toContain('Practice: not recorded');
  }
  expect(await app.scan('VG1 this is no ticket')).toMatchObject({ light: 'red' });
  const { pending, synced } = await app.kept();
  expect([...pending, ...synced]).toEqual([]);
  expect(await venue.scans()).toEqual([]);
  await page.getByRole('button', { name: 'End practice' }).click();
  expect(await app.scan(ticket.barcode)).toMatchObject({ light: 'green' });
  await expectAllOnce(venue, app);
});
