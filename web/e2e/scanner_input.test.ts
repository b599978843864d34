import type { Page } from '@playwright/test';
import { expect, expectAllOnce, test } from './scanner_fixtures.ts';

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

/** By the browser itself, and without waiting for each key: a scanner does not. */
async function typeFast(page: Page, text: string): Promise<void> {
  const keyboard = await page.context().newCDPSession(page);
  const keys = [...text].map((key) => ({ key, text: key }));
  const enter = { key: 'Enter', code: 'Enter', text: '\r', windowsVirtualKeyCode: 13 };
  await Promise.all(
    [...keys, enter].flatMap((key) => [
      keyboard.send('Input.dispatchKeyEvent', { type: 'keyDown', ...key }),
      keyboard.send('Input.dispatchKeyEvent', { type: 'keyUp', key: key.key }),
    ]),
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
  expect(await app.scan(ticket.barcode)).toMatchObject({ light: 'red' });
  await expectAllOnce(venue, app);
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
