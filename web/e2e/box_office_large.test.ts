import { SeatedHouse } from './box_office_house.ts';
import { enter } from './box_office_pages.ts';
import { expect, test } from './fixtures.ts';
import { stadium } from './stadium.ts';

const SEATS = 20_000;
const CHANGES = 1_000;
/** As many as the server tells of one by one; of more it says that there were many. */
const CHANGES_TOLD_MAX = 400;

test('a house of twenty thousand seats is drawn and kept up to date', async ({
  page,
  organization,
  server,
}, info) => {
  const { config, seatIds } = await stadium(server, info.outputPath('stadium.json'), SEATS);
  const house = await SeatedHouse.open(organization, { name: 'A large house', config });
  await enter(page, house, await organization.addPerson());
  const free = (left: number) => page.getByText(`${left.toLocaleString('en-ZA')} seats free`);
  await expect(free(seatIds.length)).toBeVisible();
  await expect(page.locator('canvas')).toBeVisible();
  for (const [first, last] of [
    [0, CHANGES_TOLD_MAX],
    [CHANGES_TOLD_MAX, CHANGES],
  ] as const) {
    await house.block(seatIds.slice(first, last));
    await expect(free(seatIds.length - last)).toBeVisible();
  }
});
