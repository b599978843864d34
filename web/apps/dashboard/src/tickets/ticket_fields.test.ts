import type { EventZone, TicketType } from '@voelgoed/api';
import { FormState } from '@voelgoed/ui';
import { expect, test } from 'vitest';
import { blankFields, bodyOf, ELSEWHERE, fieldsOf, tariffsOf } from './ticket_fields.ts';

const RULE = '01990000-0000-7000-8000-000000000001';

function aZone(name: string, zone_type: 'reserved_seating' | 'ga_standing', rule?: string) {
  const zone = { zone_id: name, name, zone_type, capacity: 10 };
  return { zone, enabled: true, pricing_rule_id: rule ?? null } as EventZone;
}

test('amounts become minor units, and what has none is not sold', () => {
  const fields = { ...blankFields('ga', 'ZAR'), name: 'Day' };
  fields.prices = { [ELSEWHERE]: '120,50', [RULE]: ' ' };
  expect(bodyOf(fields).prices).toEqual([{ pricing_rule_id: null, amount_minor: 12_050 }]);
  fields.prices[RULE] = '0';
  expect(bodyOf(fields).prices).toContainEqual({ pricing_rule_id: RULE, amount_minor: 0 });
});

test('a price that is none is told at its zones, and no price at all at the prices', async () => {
  const form = new FormState();
  const fields = { ...blankFields('ga', 'ZAR'), name: 'Day' };
  await form.submit(async () => bodyOf(fields));
  expect(form.fault('prices')).toBe('is missing');
  fields.prices = { [ELSEWHERE]: '120', [RULE]: 'much' };
  await form.submit(async () => bodyOf(fields));
  expect(form.fault(`prices.${RULE}`)).toBe('is no amount');
});

test('zones of one pricing rule share a price, those of the other kind have none here', () => {
  const zones = [
    aZone('Balcony', 'reserved_seating', RULE),
    aZone('Boxes', 'reserved_seating', RULE),
    aZone('Stalls', 'reserved_seating'),
    aZone('Floor', 'ga_standing'),
  ];
  expect(tariffsOf(zones, blankFields('seated', 'ZAR'))).toEqual([
    { rule: ELSEWHERE, zones: ['Stalls'] },
    { rule: RULE, zones: ['Balcony', 'Boxes'] },
  ]);
  expect(tariffsOf([], blankFields('ga', 'ZAR'))).toEqual([{ rule: ELSEWHERE, zones: [] }]);
});

test('the limit of a single entry is not typed but follows', () => {
  const type = {
    ...blankFields('ga', 'ZAR'),
    entry_limit: 1,
    quota: 50,
    prices: [{ pricing_rule_id: null, amount_minor: 5 }],
    max_per_order: null,
    max_daily_entries: null,
  } as unknown as TicketType;
  const fields = fieldsOf(type);
  expect([fields.entry_limit, fields.quota, fields.prices]).toEqual([
    '',
    '50',
    { [ELSEWHERE]: '0.05' },
  ]);
  expect(bodyOf({ ...fields, name: 'Day', entry_limit: '7' }).entry_limit).toBeNull();
  expect(
    bodyOf({ ...fields, name: 'Day', entry_limit: '7', entitlement: 'ga_standing' }).entry_limit,
  ).toBe(7);
});
