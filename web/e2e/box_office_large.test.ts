import type { Page } from '@playwright/test';
import { SeatedHouse } from './box_office_house.ts';
import { enter } from './box_office_pages.ts';
import { expect, test } from './fixtures.ts';
import { stadium } from './stadium.ts';

const CHANGES = 1_000;
/** As many as the server tells of one by one; of more it says that there were many. */
const CHANGES_TOLD_MAX = 400;

for (const seats of [20_000, 50_000]) {
  test(`a house of ${seats} seats is drawn, moved and kept up to date`, async ({
    page,
    organization,
    server,
  }, info) => {
    const { config, seatIds } = await stadium(server, info.outputPath('stadium.json'), seats);
    const house = await SeatedHouse.open(organization, { name: 'A large house', config });
    await enter(page, house, await organization.addPerson());
    const free = (left: number) => page.getByText(`${left.toLocaleString('en-ZA')} seats free`);
    await expect(free(seatIds.length)).toBeVisible();
    await expectMoves(page);
    for (const [first, last] of [
      [0, CHANGES_TOLD_MAX],
      [CHANGES_TOLD_MAX, CHANGES],
    ] as const) {
      await house.block(seatIds.slice(first, last));
      await expect(free(seatIds.length - last)).toBeVisible();
    }
  });
}

/** Nearer by, and to the side: each time the map is another picture. */
async function expectMoves(page: Page): Promise<void> {
  const canvas = page.locator('canvas');
  const picture = () => canvas.evaluate((map: HTMLCanvasElement) => map.toDataURL());
  const box = (await canvas.boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  const whole = await picture();
  await page.mouse.wheel(0, -300);
  await expect.poll(picture).not.toBe(whole);
  let near = '';
  const rests = async () => near === (near = await picture());
  await expect.poll(rests).toBe(true);
  await page.mouse.down();
  await page.mouse.move(x + 150, y + 80, { steps: 5 });
  await page.mouse.up();
  await expect.poll(picture).not.toBe(near);
}
