import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { expect, test } from './dashboard_fixtures.ts';
import { logIn } from './log_in.ts';

const PASSWORD = 'a password for tests';

const main = (page: Page) => page.getByRole('main');

/** A new account, opened on the page. */
async function addPerson(page: Page, name: string, role: string): Promise<string> {
  const email = `${name.toLowerCase().replace(/\W/g, '.')}@example.com`;
  await page.goto('/dashboard/#/setup/people');
  await page.getByRole('button', { name: 'Add a person' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('First password').fill(PASSWORD);
  await page.getByLabel('Role', { exact: true }).first().selectOption(role);
  await page.getByRole('button', { name: 'Open the account' }).click();
  await expect(page.getByRole('link', { name })).toBeVisible();
  return email;
}

test.describe('with what is refused', () => {
  test.use({ expectedComplaint: /status of (409|422)/, hasOwnOrganization: true });

  test('a person is added, promoted, becomes a member, and is disabled', async ({
    dashboard: page,
  }) => {
    await page.getByRole('link', { name: 'Set-up' }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('button', { name: 'Add a person' }).click();
    await page.getByRole('button', { name: 'Open the account' }).click();
    await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
    await expect(page.getByLabel('Email')).toHaveAccessibleDescription('Fill this in.');
    await page.getByLabel('Name', { exact: true }).fill('Naledi Khumalo');
    await page.getByLabel('Email').fill('no address');
    await page.getByLabel('First password').fill('short');
    await page.getByRole('button', { name: 'Open the account' }).click();
    await expect(page.getByLabel('Email')).toHaveAccessibleDescription(/not an email address/);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel('Email').fill('naledi@example.com');
    await page.getByRole('button', { name: 'Open the account' }).click();
    await expect(page.getByLabel('First password')).toHaveAccessibleDescription(/Use at least 10/);
    await page.getByLabel('First password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Open the account' }).click();
    await page.getByRole('link', { name: 'Naledi Khumalo' }).click();

    // The list has a choice of that name too.
    await expect(page.getByRole('heading', { name: 'Naledi Khumalo', level: 1 })).toBeVisible();
    await page.getByLabel('Role').selectOption('Organiser');
    await expect(page.getByText('logs the person out everywhere').first()).toBeVisible();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved.')).toBeVisible();

    await page.getByRole('button', { name: 'Add a membership' }).click();
    await page.getByLabel('Tier').fill('Gold!');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.getByLabel('Tier')).toHaveAccessibleDescription(/small letters/);
    await page.getByLabel('Tier').fill('gold');
    await page.getByLabel('Valid until').fill('2020-01-01T10:00');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.getByLabel('Valid until')).toHaveAccessibleDescription(/after|end/);
    await page.getByLabel('Valid until').fill('');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.getByText('In force')).toBeVisible();
    await page.getByRole('button', { name: 'Change the membership gold' }).click();
    await page.getByRole('listitem').getByLabel('Status').selectOption('Suspended');
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole('listitem').getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Not in force')).toBeVisible();

    await page.getByRole('textbox', { name: 'New password' }).fill(`${PASSWORD} anew`);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await expect(page.getByText('Naledi Khumalo has the new password')).toBeVisible();
    await page.getByLabel('Status').selectOption('Disabled');
    await expect(page.getByText('Saved.')).toBeHidden();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved.')).toBeVisible();
    await page.getByRole('link', { name: 'People' }).click();
    const card = main(page).getByRole('listitem').filter({ hasText: 'Naledi Khumalo' });
    await expect(card).toContainText('Disabled');
  });

  test('the last owner stays, and what somebody else changed meanwhile is shown', async ({
    dashboard: page,
  }) => {
    const { data } = (await (await page.request.get('/api/session')).json()) as {
      data: { user: { id: string } };
    };
    await page.goto(`/dashboard/#/setup/people/${data.user.id}`);
    await page.getByLabel('Role').selectOption('Administrator');
    await expect(page.getByText('your own account')).toBeVisible();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('alert')).toContainText('at least one active owner');

    await addPerson(page, 'Pieter Botha', 'Box office');
    await page.getByRole('link', { name: 'Pieter Botha' }).click();
    await expect(page.getByRole('heading', { name: 'Pieter Botha', level: 1 })).toBeVisible();
    await expect(page).toHaveURL(/\/people\/[0-9a-f-]{36}$/);
    const path = `/api/users/${page.url().split('/').at(-1)}`;
    await page.getByLabel('Name').fill('Piet Botha');
    const change = { version: 1, role: 'gate_supervisor' };
    expect((await page.request.patch(path, { data: change })).ok()).toBe(true);
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('alert')).toContainText('in the meantime');
    await expect(page.getByLabel('Role')).toHaveValue('gate_supervisor');
    await expect(page.getByLabel('Name')).toHaveValue('Piet Botha');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText('Saved.')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'Piet Botha', level: 1 })).toBeVisible();
  });

  test('a whitelist gets its addresses, and loses them', async ({ dashboard: page }) => {
    await page.goto('/dashboard/#/setup/whitelists');
    await page.getByLabel('Name of a new whitelist').fill('Press');
    await page.getByRole('button', { name: 'Make the whitelist' }).click();
    await page.getByRole('button', { name: 'Addresses: Press' }).click();
    await expect(page.getByText('No addresses yet')).toBeVisible();
    await page.getByLabel('Email address').fill('Redakteur@Beeld.example');
    await page.getByLabel('Note').fill('Beeld');
    await page.getByRole('button', { name: 'Add the address' }).click();
    await expect(page.getByText('redakteur@beeld.example')).toBeVisible();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel('Name of a new whitelist').fill('Press');
    await page.getByRole('button', { name: 'Make the whitelist' }).click();
    await expect(page.getByLabel('Name of a new whitelist')).toHaveAccessibleDescription(/already/);
    await page.getByRole('button', { name: 'Remove: redakteur@beeld.example' }).click();
    await expect(page.getByText('No addresses yet')).toBeVisible();
    await page.getByRole('button', { name: 'Delete: Press' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect(page.getByText('No whitelists yet')).toBeVisible();
  });
});

test.describe('somebody at the box office', () => {
  test.use({ expectedComplaint: /status of (403|422)/, hasOwnOrganization: true });

  test('sees people and policy, changes neither, and changes their own password', async ({
    dashboard: page,
    otherPage,
    organization,
  }) => {
    const email = await addPerson(page, 'Lerato Mokoena', 'Box office');
    // By the form: the list of sessions names the browser.
    await otherPage.goto(`/dashboard/?org=${organization.slug}`);
    await logIn(otherPage, { email, password: PASSWORD });
    await otherPage.getByRole('link', { name: 'Set-up' }).click();
    await otherPage.getByRole('link', { name: 'People' }).click();
    await otherPage.getByRole('link', { name: 'Lerato Mokoena' }).click();
    await expect(otherPage.getByText('does not allow you to change')).toBeVisible();
    await expect(otherPage.getByRole('button', { name: 'Save' })).toBeHidden();
    await otherPage.goto('/dashboard/#/setup/policy');
    await expect(otherPage.getByText('may read this and not change it')).toBeVisible();
    await expect(
      otherPage.getByLabel('How long a seat is held (minutes)', { exact: true }),
    ).toBeDisabled();
    await otherPage.goto('/dashboard/#/events/new');
    await expect(otherPage.getByText('This page is not yours')).toBeVisible();
    await expectAccessible(otherPage);

    await otherPage.goto('/dashboard/#/setup/organization');
    await expect(otherPage.getByText('Chrome, Linux').first()).toBeVisible();
    await otherPage.getByLabel('Current password').fill('not the password');
    await otherPage.getByLabel('New password').fill(`${PASSWORD} anew`);
    await otherPage.getByRole('button', { name: 'Change the password' }).click();
    await expect(otherPage.getByLabel('Current password')).toHaveAccessibleDescription(/wrong/);
    await otherPage.getByLabel('Current password').fill(PASSWORD);
    await otherPage.getByRole('button', { name: 'Change the password' }).click();
    await expect(otherPage.getByText('Your password is changed')).toBeVisible();
    await expectAccessible(otherPage);
    await expectFitsPhone(otherPage);
    await otherPage.getByRole('button', { name: 'Log out everywhere' }).click();
    await otherPage.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
    await expect(otherPage.getByRole('heading', { name: 'Log in' })).toBeVisible();
  });
});
