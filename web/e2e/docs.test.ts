import type { Locator, Page } from '@playwright/test';
import { expectFitsPhone } from './accessibility.ts';
import { expect, test } from './fixtures.ts';

// The viewer draws the whole API at once, which takes a busy machine seconds.
test.slow();

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** `METHOD /path` of every operation, in the order of the alphabet. */
async function documented(page: Page): Promise<string[]> {
  const document = await (await page.request.get('/api/openapi.json')).json();
  return Object.entries(document.paths as Record<string, object>)
    .flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => METHODS.includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    )
    .sort();
}

/** The same, as the page has it when its parts are opened one after the other. */
async function shown(page: Page): Promise<string[]> {
  const found: string[] = [];
  await expect(page.locator('.opblock-tag').first()).toBeVisible();
  for (const part of await page.locator('.opblock-tag').all()) {
    await part.click();
    await expect(page.locator('.opblock-summary').first()).toBeVisible();
    const operations = await page.locator('.opblock-summary').evaluateAll((summaries) =>
      summaries.map((summary) => {
        const method = summary.querySelector('.opblock-summary-method')?.textContent;
        return `${method} ${summary.querySelector('[data-path]')?.getAttribute('data-path')}`;
      }),
    );
    found.push(...operations);
    await part.click();
    await expect(page.locator('.opblock-summary')).toHaveCount(0);
  }
  return found.sort();
}

async function openPart(page: Page, name: string): Promise<void> {
  await page.locator('.opblock-tag', { has: page.getByText(name, { exact: true }) }).click();
}

function operation(page: Page, method: string, path: string): Locator {
  return page.locator(`.opblock-${method}`).filter({ has: page.locator(`[data-path="${path}"]`) });
}

/** What a page asks of other places. */
function askedElsewhere(page: Page, home: string | undefined): string[] {
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && origin !== home) elsewhere.push(request.url());
  });
  return elsewhere;
}

test('/api/docs/ shows every operation and asks nobody else', async ({ page, baseURL }) => {
  const elsewhere = askedElsewhere(page, baseURL);
  await page.goto('/api/docs/');
  expect(await shown(page)).toEqual(await documented(page));
  await openPart(page, 'sessions');
  await expect(operation(page, 'post', '/api/sessions')).toContainText('Log in');
  await operation(page, 'post', '/api/sessions').locator('.opblock-summary-control').click();
  await expect(operation(page, 'post', '/api/sessions')).toContainText('rate_limited');
  await expectFitsPhone(page);
  expect(elsewhere).toEqual([]);
});

test('/api/docs shows the same', async ({ page, baseURL }) => {
  const elsewhere = askedElsewhere(page, baseURL);
  await page.goto('/api/docs');
  await openPart(page, 'sessions');
  await expect(operation(page, 'post', '/api/sessions')).toContainText('Log in');
  expect(elsewhere).toEqual([]);
});

test('an operation can be tried out with the session of the apps', async ({
  organization,
  page,
}) => {
  await organization.signIn(page);
  await page.goto('/api/docs/');
  await openPart(page, 'session');
  const session = operation(page, 'get', '/api/session');
  await session.locator('.opblock-summary-control').click();
  await session.getByRole('button', { name: 'Try it out' }).click();
  await session.getByRole('button', { name: 'Execute' }).click();
  await expect(session.locator('.live-responses-table')).toContainText(organization.owner.email);
});
