import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import type { Demo } from './demo.ts';
import { expect, test } from './fixtures.ts';
import { logIn, openApp } from './log_in.ts';

async function demoEventName(page: Page, { event_id }: Demo): Promise<string> {
  const response = await page.request.get(`/api/events/${event_id}`);
  const { data } = (await response.json()) as { data: { name: string } };
  return data.name;
}

test('a customer logs in and sees what is on sale', async ({ page, server }) => {
  await openApp(page, 'box-office', server.demo);
  await logIn(page, server.demo.users.customer);
  await expect(page.getByRole('button', { name: 'Log out' })).toBeVisible();
  const hasText = await demoEventName(page, server.demo);
  const demoEvent = page.getByRole('article').filter({ hasText });
  await expect(demoEvent).toContainText('SAST');
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('a stranger makes an account and is logged in with it', async ({ page, server }) => {
  await openApp(page, 'box-office', server.demo);
  await page.getByRole('button', { name: 'Create an account' }).click();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByLabel('Your name').fill('Nomsa Jacobs');
  await page.getByLabel('Email').fill(`nomsa-${crypto.randomUUID()}@example.com`);
  await page.getByLabel('Password').fill('a long walk on the beach');
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByText('Nomsa Jacobs')).toBeVisible();
  await expect(page.getByRole('article').first()).toBeVisible();
});

test.describe('an email address that has an account', () => {
  test.use({ expectedComplaint: /status of 409/ });

  test('is not registered twice', async ({ page, server }) => {
    await openApp(page, 'box-office', server.demo);
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill('Somebody Else');
    await page.getByLabel('Email').fill(server.demo.users.customer.email);
    await page.getByLabel('Password').fill('a long walk on the beach');
    await page.getByRole('button', { name: 'Create account' }).click();
    await expect(page.getByRole('alert')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Create an account' })).toBeVisible();
  });
});
