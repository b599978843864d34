import type { TicketType } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { LANGUAGES } from '../messages/index.ts';
import { priceText, ticketFacts } from './ticket_facts.ts';

const type = {
  kind: 'ga',
  entitlement: 'single_entry',
  sold_by: 'staff',
  currency: 'ZAR',
  quota: 100,
  taken: 40,
} as TicketType;

test('a price is one, or from the least to the most', () => {
  const at = (...amounts: number[]) =>
    priceText(LANGUAGES.en, { ...type, prices: amounts.map((amount_minor) => ({ amount_minor })) });
  expect(at(12_000)).toMatch(/^R\s?120.00$/);
  expect(at(24_000, 12_000, 12_000)).toMatch(/^R\s?120.00 – R\s?240.00$/);
});

test('its facts stand in one line', () => {
  expect(ticketFacts(LANGUAGES.en, type)).toContain('40 of 100 taken');
  expect(ticketFacts(LANGUAGES.en, { ...type, quota: null })).toContain('40 taken');
  expect(ticketFacts(LANGUAGES.af, type)).toContain('40 van 100 geneem');
});
