import type { Page } from '@playwright/test';
import { demo, type LogIn } from './demo.ts';

export async function openApp(page: Page, app: 'dashboard' | 'box-office'): Promise<void> {
  await page.goto(`/${app}/?org=${demo().organization_slug}`);
}

export async function logIn(page: Page, { email, password }: LogIn): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
