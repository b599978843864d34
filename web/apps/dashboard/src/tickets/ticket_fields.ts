import type { EventZone, TicketType } from '@voelgoed/api';
import { Filled } from '../forms/filled.ts';
import { amountText } from '../forms/money.ts';

export const KINDS: readonly TicketType['kind'][] = ['ga', 'seated'];
export const ENTITLEMENTS: readonly TicketType['entitlement'][] = [
  'single_entry',
  'unlimited_single_day',
  'unlimited_multi_day',
  'limited_reentry_per_day',
  'ga_seated',
  'ga_standing',
];
export const REENTRIES: readonly TicketType['reentry'][] = ['allowed', 'after_exit', 'never'];
export const SELLERS: readonly TicketType['sold_by'][] = ['anybody', 'staff'];
const SEATED = ['reserved_seating', 'vip_reserved'];

/** The price of zones that have no pricing rule, or none with a price of its own. */
export const ELSEWHERE = '';

/** Numbers and amounts as they are typed; prices by the pricing rule of the zones. */
export interface TicketFields {
  name: string;
  description: string;
  kind: TicketType['kind'];
  currency: string;
  prices: Record<string, string>;
  zone_ids: string[] | null;
  quota: string;
  max_per_order: string;
  sold_by: TicketType['sold_by'];
  entitlement: TicketType['entitlement'];
  entry_limit: string;
  max_daily_entries: string;
  reentry: TicketType['reentry'];
  valid_days: string[] | null;
  gate_ids: string[] | null;
}

export function blankFields(kind: TicketType['kind'], currency: string): TicketFields {
  return {
    name: '',
    description: '',
    kind,
    currency,
    prices: { [ELSEWHERE]: '' },
    zone_ids: null,
    quota: '',
    max_per_order: '',
    sold_by: 'anybody',
    entitlement: 'single_entry',
    entry_limit: '',
    max_daily_entries: '',
    reentry: 'allowed',
    valid_days: null,
    gate_ids: null,
  };
}

export function fieldsOf(type: TicketType): TicketFields {
  const prices = type.prices.map(({ pricing_rule_id: rule, amount_minor: amount }) => [
    rule ?? ELSEWHERE,
    amountText(amount, type.currency),
  ]);
  return {
    name: type.name,
    description: type.description,
    kind: type.kind,
    currency: type.currency,
    prices: Object.fromEntries(prices),
    zone_ids: type.zone_ids,
    quota: String(type.quota ?? ''),
    max_per_order: String(type.max_per_order ?? ''),
    sold_by: type.sold_by,
    entitlement: type.entitlement,
    // One entry only is what that entitlement means: the limit comes and goes with it.
    entry_limit: type.entitlement === 'single_entry' ? '' : String(type.entry_limit ?? ''),
    max_daily_entries: String(type.max_daily_entries ?? ''),
    reentry: type.reentry,
    valid_days: type.valid_days,
    gate_ids: type.gate_ids,
  };
}

/** All but kind and currency, which stay as they were made. Throws all faults at once. */
export function bodyOf(fields: TicketFields, filled = new Filled()) {
  const isSingle = fields.entitlement === 'single_entry';
  const body = {
    name: filled.text('name', fields.name),
    description: fields.description.trim(),
    prices: pricesOf(fields, filled),
    zone_ids: fields.zone_ids,
    quota: filled.wholeOrNone('quota', fields.quota),
    max_per_order: filled.wholeOrNone('max_per_order', fields.max_per_order),
    sold_by: fields.sold_by,
    entitlement: fields.entitlement,
    entry_limit: isSingle ? null : filled.wholeOrNone('entry_limit', fields.entry_limit),
    max_daily_entries: filled.wholeOrNone('max_daily_entries', fields.max_daily_entries),
    reentry: fields.reentry,
    valid_days: fields.valid_days,
    gate_ids: fields.gate_ids,
  };
  filled.refuseFaults();
  return body;
}

/** What nothing is typed for is not sold; free is 0. */
function pricesOf({ prices, currency }: TicketFields, filled: Filled) {
  const typed = Object.entries(prices).filter(([, amount]) => amount.trim() !== '');
  if (typed.length === 0) filled.fault('prices', 'is missing');
  return typed.map(([rule, amount]) => ({
    pricing_rule_id: rule === ELSEWHERE ? null : rule,
    amount_minor: filled.amount(`prices.${rule}`, amount, currency),
  }));
}

export interface Tariff {
  rule: string;
  /** Of the zones it is for. */
  zones: string[];
}

/** What has a price of its own: each pricing rule of the event's zones, and everything else. */
export function tariffsOf(zones: readonly EventZone[], fields: TicketFields): Tariff[] {
  const found = new Map<string, string[]>([[ELSEWHERE, []]]);
  for (const rule of Object.keys(fields.prices)) found.set(rule, []);
  for (const { zone, pricing_rule_id: rule } of zonesOf(zones, fields.kind)) {
    found.set(rule ?? ELSEWHERE, [...(found.get(rule ?? ELSEWHERE) ?? []), zone.name]);
  }
  return [...found].map(([rule, names]) => ({ rule, zones: names }));
}

/** Numbered seats and places without numbers are sold by different ticket types. */
export function zonesOf(zones: readonly EventZone[], kind: TicketType['kind']): EventZone[] {
  return zones.filter(({ zone }) => SEATED.includes(zone.zone_type) === (kind === 'seated'));
}
