import { anApi, json, refusal } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { Checkout, offersFor } from './checkout.svelte.ts';
import { aHouse } from './testing.ts';
import type { Hold } from './types.ts';

const SEAT = { hold_id: 'h', zone_id: 'stalls', places: 1, days: null } as Hold;
const PLACES = { hold_id: 'p', zone_id: 'floor', places: 3, days: ['2030-01-02'] } as Hold;
const BUYER = { name: 'Thandi', email: '' };

test('for a seat all that is sold in its zone, for places what is good on their days', async () => {
  const house = await aHouse();
  expect(offersFor(SEAT, house).map(({ name }) => name)).toEqual(['Full price', 'Half price']);
  expect(offersFor(PLACES, house).map(({ name }) => name)).toEqual(['Day']);
  const all = { ...PLACES, days: ['2030-01-01', '2030-01-02'] };
  expect(offersFor(all, house).map(({ name }) => name)).toEqual(['Pass']);
});

test('the total follows the tickets that were chosen', async () => {
  const checkout = new Checkout(anApi({}), await aHouse());
  expect(checkout.total([SEAT, PLACES])).toBe(300_00);
  checkout.chosen.h = 'half';
  expect(checkout.total([SEAT, PLACES])).toBe(150_00);
});

test('staff say how it was paid; a customer pays elsewhere, and what is free is not paid', async () => {
  const bodies: { payment: unknown }[] = [];
  const api = anApi({
    'POST /api/orders': async (request) => {
      bodies.push((await request.json()) as { payment: unknown });
      return json(201, { data: { order: { id: 'o' } } });
    },
  });
  const checkout = new Checkout(api, await aHouse());
  expect((await checkout.place([SEAT], BUYER, 'cash'))?.order.id).toBe('o');
  await checkout.place([SEAT], BUYER, undefined);
  await checkout.place([PLACES], BUYER, undefined);
  expect(bodies.map(({ payment }) => payment)).toEqual([
    { provider: 'manual', method: 'cash', note: '' },
    { provider: 'paylink', note: '' },
    null,
  ]);
  expect(bodies[2]).toMatchObject({ buyer_email: null, items: [{ count: 3 }] });
});

test('a refusal is told', async () => {
  const api = anApi({ 'POST /api/orders': () => refusal(409, 'hold_ended') });
  const checkout = new Checkout(api, await aHouse());
  expect(await checkout.place([SEAT], BUYER, 'cash')).toBeUndefined();
  expect(checkout.problem?.code).toBe('hold_ended');
});
