import type { TicketType } from '@voelgoed/api';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { TicketTypes } from './ticket_types.svelte.ts';

const day: TicketType = {
  id: 't',
  event_id: 'e',
  number: 1,
  name: 'Day',
  description: '',
  kind: 'ga',
  entitlement: 'unlimited_multi_day',
  entry_limit: 3,
  max_daily_entries: null,
  valid_days: null,
  zone_ids: null,
  gate_ids: null,
  reentry: 'allowed',
  currency: 'EUR',
  prices: [{ pricing_rule_id: null, amount_minor: 2_500 }],
  quota: 100,
  taken: 40,
  max_per_order: null,
  sold_by: 'anybody',
  status: 'on_sale',
  version: 7,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

function theTypes(answers: Answers): TicketTypes {
  const server: Answers = {
    'GET /api/events/e/ticket-types': () => json(200, { data: [day] }),
    'GET /api/events/e/layout': () => refusal(404, 'event_layout_not_found'),
  };
  return new TicketTypes(anApi({ ...server, ...answers }), 'e');
}

test('a new type is in the currency of the others', async () => {
  let sent: unknown;
  const types = theTypes({
    'POST /api/events/e/ticket-types': async (request) => {
      sent = await request.json();
      return json(201, { data: day });
    },
  });
  await types.list.load();
  types.creation.clear();
  Object.assign(types.creation.fields, { name: 'Evening', prices: { '': '12.50' } });
  await types.creation.create();
  expect(sent).toMatchObject({
    name: 'Evening',
    kind: 'ga',
    currency: 'EUR',
    prices: [{ pricing_rule_id: null, amount_minor: 1_250 }],
    entitlement: 'single_entry',
  });
});

test('a price is changed alone, and a single entry takes the limit with it', async () => {
  const sent: unknown[] = [];
  const types = theTypes({
    'PATCH /api/ticket-types/t': async (request) => {
      sent.push(await request.json());
      return json(200, { data: { ...day, version: 8 } });
    },
  });
  const edited = types.edited(day);
  edited.fields.prices[''] = '30,00';
  await edited.save();
  edited.fields.entitlement = 'single_entry';
  await edited.save();
  expect(sent).toEqual([
    { version: 7, prices: [{ pricing_rule_id: null, amount_minor: 3_000 }] },
    { version: 8, entitlement: 'single_entry', entry_limit: null },
  ]);
});

test('what was ordered cannot be deleted, but taken off sale', async () => {
  let sent: unknown;
  const types = theTypes({
    'DELETE /api/ticket-types/t': () => refusal(409, 'ticket_type_in_use'),
    'PATCH /api/ticket-types/t': async (request) => {
      sent = await request.json();
      return json(200, { data: day });
    },
  });
  expect(await types.delete(day)).toBe(false);
  expect(types.deed.problem?.code).toBe('ticket_type_in_use');
  expect(await types.sell(day, 'off_sale')).toBe(true);
  expect(sent).toEqual({ version: 7, status: 'off_sale' });
  expect(types.deed.problem).toBeUndefined();
});
