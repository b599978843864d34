import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, openEventPage, test } from './dashboard_fixtures.ts';
import { logIn, openApp } from './log_in.ts';

test('the log-in form offers the organisation of the link', async ({ page, server }) => {
  await openApp(page, 'dashboard', server.demo);
  await expect(page.getByLabel('Organisation')).toHaveValue(server.demo.organization_slug);
  await expectAccessible(page);
  await expectFitsPhone(page);
});

test('what is missing is named where it is missing', async ({ page, server }) => {
  await openApp(page, 'dashboard', server.demo);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByLabel('Email')).toBeFocused();
  await expect(page.getByLabel('Email')).toHaveAccessibleDescription('Enter your email address.');
  await expectAccessible(page);
});

test.describe('with a wrong password', () => {
  test.use({ expectedComplaint: /status of 401/ });

  test('the form says so and stays', async ({ page, server }) => {
    await openApp(page, 'dashboard', server.demo);
    await logIn(page, { ...server.demo.users.owner, password: 'not the password' });
    await expect(page.getByRole('alert')).toContainText(/password/i);
    await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
    await expectAccessible(page);
  });
});

test('log in with the keyboard alone, see the demo event, log out', async ({ page, server }) => {
  const { event_id, users } = server.demo;
  const demoEvent = page.locator(`a[href="#/events/${event_id}"]`);
  await openApp(page, 'dashboard', server.demo);
  await page.getByLabel('Email').focus();
  await page.keyboard.type(users.owner.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(users.owner.password);
  await page.keyboard.press('Enter');
  await expect(demoEvent).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);

  await page.reload();
  await expect(demoEvent).toBeVisible();

  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Log in' })).toBeVisible();
});

test('a gate closed by one person is seen closed by another at once', async ({
  dashboard: page,
  otherPage,
  gate,
  organization,
  venue,
}) => {
  await organization.signIn(otherPage);
  for (const each of [page, otherPage]) await openEventPage(each, venue);
  await expectAccessible(page);
  await expectFitsPhone(page);

  const openAgain = `Open ${gate.name}`;
  await page.getByRole('button', { name: `Close ${gate.name}` }).click();
  await expect(page.getByRole('button', { name: openAgain })).toBeVisible();
  await expect(otherPage.getByRole('button', { name: openAgain })).toBeVisible();

  await otherPage.getByRole('button', { name: openAgain }).click();
  await expect(page.getByRole('button', { name: `Close ${gate.name}` })).toBeVisible();
});

test.describe('a session that ends elsewhere', () => {
  test.use({ expectedComplaint: /status of 401/, hasOwnOrganization: true });

  test('brings the log-in back with a reason', async ({ dashboard: page, venue }) => {
    await openEventPage(page, venue);
    await page.request.delete('/api/sessions');
    await page.evaluate(() => (location.hash = '#/'));
    await expect(page.getByText('Your session has ended')).toBeVisible();
    await expectAccessible(page);
  });
});

test.describe('an event that does not exist', () => {
  test.use({ expectedComplaint: /status of 404/ });

  test('is explained, with a way back', async ({ dashboard: page, venue }) => {
    await page.goto('/dashboard/#/events/01990000-0000-7000-8000-000000000000');
    await expect(page.getByRole('alert').first()).toBeVisible();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'All events' }).click();
    await expect(page.locator(`a[href="#/events/${venue.eventId}"]`)).toBeVisible();
  });
});

test('a customer is told where customers belong', async ({ page, organization }) => {
  await organization.signIn(page, await organization.addPerson());
  await page.goto('/dashboard/');
  await expect(page.getByRole('link', { name: 'box office' })).toBeVisible();
  await expectAccessible(page);
});
