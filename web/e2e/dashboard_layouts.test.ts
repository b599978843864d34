import type { Page } from '@playwright/test';
import { expectAccessible, expectFitsPhone } from './accessibility.ts';
import { aHall, SeatedHouse } from './box_office_house.ts';
import { expect, test } from './fixtures.ts';
import type { Organization } from './organization.ts';

const STADIUM_SEATS = /50.000 seats/;

// A form without a name is refused.
test.use({ expectedComplaint: /status of 422/ });

async function openVenue(page: Page, organization: Organization): Promise<SeatedHouse> {
  const house = await SeatedHouse.open(organization, { name: 'The Barn' });
  await organization.signIn(page);
  await page.goto(`/dashboard/#/setup/venues/${house.venueId}`);
  await expect(page.getByRole('heading', { name: 'The Barn', level: 1 })).toBeVisible();
  return house;
}

async function check(page: Page, text: string): Promise<void> {
  await page.getByLabel('Or paste it here').fill(text);
  await page.getByRole('button', { name: 'Check' }).click();
}

/** Seats, areas and names have colours of their own, also where nothing may move. */
async function expectDrawn(page: Page): Promise<void> {
  const colours = () =>
    page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { width, height } = canvas;
      const pixels = canvas.getContext('2d')!.getImageData(0, 0, width, height).data;
      return new Set(new Uint32Array(pixels.buffer)).size;
    });
  await expect.poll(colours).toBeGreaterThan(20);
}

interface Hall {
  zones: { capacity: number; seats?: { seat_id: string; coordinates: object }[] }[];
  total_capacity?: number;
}

/** A seat on another, an id twice, a wrong sum, a wrong count. */
function aFaultyHall(): Hall {
  const hall = aHall() as Hall;
  const seats = hall.zones[1]!.seats!;
  seats[3]!.coordinates = seats[2]!.coordinates;
  seats[15]!.seat_id = 'A-1';
  hall.zones[1]!.capacity = 39;
  hall.total_capacity = 7;
  return hall;
}

test('a layout with faults is refused, with every fault in a list and marked on the drawing', async ({
  page,
  organization,
}) => {
  const house = await openVenue(page, organization);
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('link', { name: 'Import a layout' }).click();
  await page.getByRole('button', { name: 'Check' }).click();
  await expect(page.getByText('Choose a file, or paste something.')).toBeVisible();

  await check(page, JSON.stringify(aFaultyHall()));
  await expect(page.getByRole('alert')).toContainText('Refused: 4 faults');
  const faults = page.getByRole('region', { name: 'Faults' }).getByRole('listitem');
  await expect(faults).toHaveCount(4);
  const drawing = page.getByRole('region', { name: 'Drawing' });
  await expect(
    drawing.getByRole('button', { name: /^Fault \d: seat A-3, seat A-4$/ }),
  ).toBeVisible();
  await expect(drawing.getByRole('button', { name: /^Fault \d: zone Stalls$/ })).toBeVisible();
  const total = faults.filter({ hasText: '$.total_capacity' });
  await expect(total).toContainText('Has no place on the drawing');

  const twice = faults.filter({ hasText: 'is already the seat_id of' });
  const number = await twice.locator('strong').innerText();
  await twice.getByRole('button', { name: `Show on the drawing: fault ${number}` }).click();
  const mark = drawing.getByRole('button', { name: `Fault ${number}: seat A-1`, exact: true });
  await expect(mark.and(page.locator('[aria-current]'))).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await expectDrawn(page);
  await mark.and(page.locator('[aria-current]')).click();
  await expect(twice).toBeFocused();
  expect(await house.layouts()).toHaveLength(1);
});

test('what is no JSON is told with its place, and a text with its line', async ({
  page,
  organization,
}) => {
  const house = await openVenue(page, organization);
  await page.getByRole('link', { name: 'Import a layout' }).click();
  await check(page, '{\n  "zones": [}');
  await expect(page.getByRole('alert')).toContainText('Line 2, column 13');
  await check(page, 'zone hall reserved_seating Hall\nblock at 0,0\nrow A 1-4\nrow A 4-5\nrows');
  await expect(page.getByRole('alert')).toContainText('Refused: 3 faults');
  const faults = page.getByRole('region', { name: 'Faults' }).getByRole('listitem');
  await expect(faults.first()).toContainText('line 4 · seat A-4');
  await expect(faults.last()).toContainText('line 5');
  await check(page, 'kind,zone,type,capacity\nzone,Pit,ga_standing,30\nseat,Nowhere,,\n');
  await expect(page.getByRole('alert')).toContainText('Refused: 1 fault');
  expect(await house.layouts()).toHaveLength(1);
});

const LITTLE = [
  'focus 0,-4',
  'zone pit ga_standing "Pit" capacity 40 at 0,-1 size 14x3',
  'zone stalls reserved_seating "Stalls"',
  'block at 0,5 depth 1.1 curve 20',
  'rows A-D seats 4,6,4',
  'row E w1 c2 _ 3 | 4-9 | 10 _ c11 w12',
];

test('a sound one is stored, activated and looked at, and its next version compared', async ({
  page,
  organization,
}) => {
  const house = await openVenue(page, organization);
  await page.getByRole('link', { name: 'Import a layout' }).click();
  await check(page, LITTLE.join('\n'));
  await expect(page.getByText('2 zones, 68 seats, 108 places.')).toBeVisible();
  await page.getByRole('button', { name: 'Store it' }).click();
  const name = page.getByLabel('Name', { exact: true });
  await expect(name).toBeFocused();
  await expect(name).toHaveAccessibleDescription('Fill this in.');
  await name.fill('Little House');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Store it' }).click();

  await expect(page.getByRole('heading', { name: 'Little House, version 1' })).toBeVisible();
  await expect(page.getByText('Wheelchair place', { exact: true })).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  await page.getByRole('button', { name: 'List', exact: true }).click();
  await page.getByText('Stalls').first().click();
  await page.getByText('Row E').click();
  await expect(page.getByText('Seat 1, Wheelchair place, free')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Activate: Little House, version 1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  await expect(page.getByRole('button', { name: 'Archive: Little House' })).toBeVisible();

  await page.getByRole('link', { name: 'Import a new version' }).click();
  const next = LITTLE.join('\n').replace('seats 4,6,4', 'seats 4,7,4').replace('w1 c2', 'w1 2');
  await check(page, next.replace('| 10 _ c11 w12', '| 10 _ c11'));
  await page.getByRole('button', { name: 'Store it' }).click();
  await expect(page.getByRole('heading', { name: 'Little House, version 2' })).toBeVisible();
  await page.getByRole('link', { name: 'Compare with the version before' }).click();
  await expect(page.getByText('4 seats added')).toBeVisible();
  await expect(page.getByText('1 seat removed')).toBeVisible();
  await expect(page.getByText('E-12: removed', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Show on the drawing: seat E-12' }).click();
  await expect(page.locator('[aria-current="true"][aria-label^="E-12"]')).toBeVisible();
  await expectAccessible(page);
  await expectFitsPhone(page);
  expect(await house.layouts()).toMatchObject([
    { name: 'The Barn' },
    { name: 'Little House', version: 1, status: 'active' },
    { name: 'Little House', version: 2, status: 'draft' },
  ]);
});

test('a stadium comes in as a file, and something too large is told before it is sent', async ({
  page,
  organization,
  server,
}, info) => {
  await openVenue(page, organization);
  await page.getByRole('link', { name: 'Import a layout' }).click();
  const large = { name: 'large.json', mimeType: 'application/json' };
  await page
    .getByLabel('File')
    .setInputFiles({ ...large, buffer: Buffer.alloc(24 * 1024 * 1024 + 1, ' ') });
  await page.getByRole('button', { name: 'Check' }).click();
  await expect(page.getByLabel('File')).toHaveAccessibleDescription(/It was not sent/);

  const stadium = info.outputPath('stadium.json');
  await server.command('layout', 'generate', 'stadium', '--output', stadium);
  await page.getByLabel('File').setInputFiles(stadium);
  await page.getByRole('button', { name: 'Check' }).click();
  await expect(page.getByText(STADIUM_SEATS)).toBeVisible({ timeout: 120_000 });
  await page.getByRole('button', { name: 'Store it' }).click();
  await expect(page.getByRole('heading', { name: 'stadium, version 1' })).toBeVisible({
    timeout: 120_000,
  });
});
