import type { Locator, Page } from '@playwright/test';
import type { Point } from '../packages/seat-map/src/plan.ts';
import { expectAccessible } from './accessibility.ts';
import { aHall, SeatedHouse } from './box_office_house.ts';
import { choose, enter } from './box_office_pages.ts';
import { expect, test } from './fixtures.ts';
import { seatPlace } from './map_places.ts';

const STOPPED_MS = 300;
const STEP_MS = 16;

test.use({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });

test('the bar of a phone names the seats, their price, and what is against them', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'In the hand' });
  await enter(page, house, await organization.addPerson());
  await choose(page, 'B-1');
  const bar = page.getByRole('main').locator('.bar');
  await expect(bar).toContainText(/B-1 · R\s?180[.,]00 – R\s?320[.,]00/);
  await expect(bar.getByRole('button', { name: 'Hold 1 seat' })).toBeVisible();
  await choose(page, 'A-2', 'A-3', 'A-4', 'A-5', 'A-6', 'A-7');
  await expect(bar).toContainText('leave a single seat that nobody buys: A-1');
  await expectAccessible(page);
  await bar.getByRole('button', { name: 'Show better ones' }).tap();
  await expect(page.getByRole('heading', { name: 'Better ones nearby' })).toBeInViewport();
  await expect(page.getByRole('button', { name: /^Take / }).first()).toBeInViewport();
});

test('a tap on a seat that cannot be had says so where the thumb is', async ({
  page,
  organization,
}) => {
  const config = aHall();
  const house = await SeatedHouse.open(organization, { name: 'Not to be had', config });
  await house.block(['B-4']);
  await enter(page, house, await organization.addPerson());
  const canvas = page.locator('canvas');
  await canvas.tap({ position: await seatPlace(canvas, config, 'B-4') });
  await expect(page.getByRole('main').locator('.bar')).toContainText('Seat B-4 is not for sale.');
  await expect(page.getByRole('main').locator('.bar')).toBeInViewport();
});

test('nothing lies over the map of a phone, and a finger scrolls until somebody is near', async ({
  page,
  organization,
}) => {
  const house = await SeatedHouse.open(organization, { name: 'Past the map' });
  await enter(page, house, await organization.addPerson());
  const canvas = page.locator('canvas');
  const map = (await canvas.boundingBox())!;
  for (const name of ['Zoom in', 'Zoom out', 'Whole house']) {
    const tool = (await page.getByRole('button', { name }).boundingBox())!;
    expect(tool.y, name).toBeGreaterThanOrEqual(map.y + map.height);
  }
  await expect(canvas).toHaveCSS('touch-action', 'pan-x pan-y');
  const begun = await bringToMiddle(page, canvas);
  await dragUp(page, canvas);
  await expect.poll(() => scrolled(page)).toBeGreaterThan(begun + 50);
  await page.getByRole('button', { name: 'Zoom in' }).tap();
  await expect(canvas).toHaveCSS('touch-action', 'none');
  const before = await bringToMiddle(page, canvas);
  await dragUp(page, canvas);
  expect(await resting(page)).toBe(before);
  await page.getByRole('button', { name: 'Whole house' }).tap();
  await expect(canvas).toHaveCSS('touch-action', 'pan-x pan-y');
});

function scrolled(page: Page): Promise<number> {
  return page.evaluate(() => scrollY);
}

/** A page that was swiped goes on for a while. Gives where it stops. */
async function resting(page: Page): Promise<number> {
  let at = await scrolled(page);
  await expect
    .poll(
      async () => {
        const before = at;
        at = await scrolled(page);
        return at === before;
      },
      { intervals: [300] },
    )
    .toBe(true);
  return at;
}

/** So that the finger touches it, and not what lies over it. */
async function bringToMiddle(page: Page, canvas: Locator): Promise<number> {
  await resting(page);
  await canvas.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  return resting(page);
}

/** As a finger does: what the browser makes of it is what is tested. */
async function dragUp(page: Page, canvas: Locator): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  const { x, y, width, height } = (await canvas.boundingBox())!;
  const at = (step: number) => [{ x: x + width / 2, y: y + height * 0.8 - step * 15 }];
  let atMs = Date.now() - 2 * STOPPED_MS;
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Point[]) =>
    browser.send('Input.dispatchTouchEvent', { type, touchPoints, timestamp: atMs / 1_000 });
  await touch('touchStart', at(0));
  for (let step = 1; step <= 10; step += 1) {
    atMs += STEP_MS;
    await touch('touchMove', at(step));
  }
  // A finger that stops before it is lifted throws nothing, so the next tap is no brake.
  atMs += STOPPED_MS;
  await touch('touchMove', at(10.1));
  await touch('touchEnd', []);
  await browser.detach();
}
