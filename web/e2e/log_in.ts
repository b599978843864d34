import type { Page } from '@playwright/test';
import type { LogIn } from './demo.ts';

export async function openApp(
  page: Page,
  app: 'dashboard' | 'box-office',
  { organization_slug }: { organization_slug: string },
): Promise<void> {
  await page.goto(`/${app}/?org=${organization_slug}`);
}

/** By the form, for tests that are about it. */
export async function logIn(page: Page, { email, password }: LogIn): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
