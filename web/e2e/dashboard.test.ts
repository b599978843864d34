import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { demo } from './demo.ts';
import { expect, test } from './fixtures.ts';
import { logIn, openApp } from './log_in.ts';

const eventLink = (page: Page) => page.locator(`a[href="#/events/${demo().event_id}"]`);

async function openDemoEvent(page: Page): Promise<void> {
  await openApp(page, 'dashboard');
  await logIn(page, demo().users.owner);
  await eventLink(page).click();
  await expect(page.getByText('Live updates on')).toBeVisible();
}

test('the log-in form offers the organisation of the link', async ({ page }) => {
  await openApp(page, 'dashboard');
  await expect(page.getByLabel('Organisation')).toHaveValue(demo().organization_slug);
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('what is missing is named where it is missing', async ({ page }) => {
  await openApp(page, 'dashboard');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByLabel('Email')).toBeFocused();
  await expect(page.getByLabel('Email')).toHaveAccessibleDescription('Enter your email address.');
  await expectAccessible(page);
});

test.describe('with a wrong password', () => {
  test.use({ expectedComplaint: /status of 401/ });

  test('the form says so and stays', async ({ page }) => {
    await openApp(page, 'dashboard');
    await logIn(page, { ...demo().users.owner, password: 'not the password' });
    await expect(page.getByRole('alert')).toContainText(/password/i);
    await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
    await expectAccessible(page);
  });
});

test('log in with the keyboard alone, see the demo event, log out', async ({ page }) => {
  const { owner } = demo().users;
  await openApp(page, 'dashboard');
  await page.getByLabel('Email').focus();
  await page.keyboard.type(owner.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(owner.password);
  await page.keyboard.press('Enter');
  await expect(eventLink(page)).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);

  await page.reload();
  await expect(eventLink(page)).toBeVisible();

  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
});

test('a gate closed by one person is seen closed by another at once', async ({
  page,
  otherPage,
}) => {
  await openDemoEvent(page);
  await openDemoEvent(otherPage);
  await expectAccessible(page);
  await expectFitsPhone(page);

  const close = page.getByRole('button', { name: /^Close / }).first();
  const gate = ((await close.getAttribute('aria-label')) ?? '').replace(/^Close /, '');
  const openAgain = `Open ${gate}`;
  await close.click();
  await expect(page.getByRole('button', { name: openAgain })).toBeVisible();
  await expect(otherPage.getByRole('button', { name: openAgain })).toBeVisible();

  await otherPage.getByRole('button', { name: openAgain }).click();
  await expect(page.getByRole('button', { name: `Close ${gate}` })).toBeVisible();
});

test.describe('a session that ends elsewhere', () => {
  test.use({ expectedComplaint: /status of 401/ });

  test('brings the log-in back with a reason', async ({ page }) => {
    await openDemoEvent(page);
    await page.request.delete('/api/sessions');
    await page.evaluate(() => (location.hash = '#/'));
    await expect(page.getByText('Your session has ended')).toBeVisible();
    await expectAccessible(page);
  });
});

test.describe('an event that does not exist', () => {
  test.use({ expectedComplaint: /status of 404/ });

  test('is explained, with a way back', async ({ page }) => {
    await openApp(page, 'dashboard');
    await logIn(page, demo().users.owner);
    await expect(eventLink(page)).toBeVisible();
    await page.goto('/dashboard/#/events/01990000-0000-7000-8000-000000000000');
    await expect(page.getByRole('alert').first()).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'All events' }).click();
    await expect(eventLink(page)).toBeVisible();
  });
});

test('a customer is told where customers belong', async ({ page }) => {
  await openApp(page, 'dashboard');
  await logIn(page, demo().users.customer);
  await expect(page.getByRole('link', { name: 'box office' })).toBeVisible();
  await expectAccessible(page);
});
