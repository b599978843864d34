import { anApi, json, refusal } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { readReadiness } from './readiness.ts';

function anEventWith(zones: unknown[] | undefined, types: unknown[], gates: unknown[]) {
  return anApi({
    'GET /api/events/e/layout': () =>
      zones ? json(200, { data: { zones } }) : refusal(404, 'event_layout_not_found'),
    'GET /api/events/e/ticket-types': () => json(200, { data: types }),
    'GET /api/events/e/gates': () => json(200, { data: gates }),
  });
}

const type = { status: 'on_sale', prices: [{ amount_minor: 12_000 }] };

test('an event with seats, something to sell and a way in lacks nothing', async () => {
  expect(await readReadiness(anEventWith([{}], [type], [{}]), 'e')).toEqual({
    layout: true,
    tickets: true,
    gates: true,
  });
});

test('an event with nothing yet lacks all of it', async () => {
  expect(await readReadiness(anEventWith(undefined, [], []), 'e')).toEqual({
    layout: false,
    tickets: false,
    gates: false,
  });
});

test('what is not on sale, or has no price, is nothing to sell', async () => {
  const types = [
    { ...type, status: 'off_sale' },
    { ...type, prices: [] },
  ];
  expect((await readReadiness(anEventWith([{}], types, [{}]), 'e')).tickets).toBe(false);
});
