import { expect, test } from 'vitest';
import { LANGUAGES } from './messages/index.ts';
import { money, priceTogether, zonePrices } from './money.ts';
import type { Offer } from './types.ts';

function offer(amount_minor: number): Offer {
  const more = { ticket_type_id: 't', name: 'T', left: null, max_per_order: null };
  return { ...more, currency: 'ZAR', amount_minor };
}

test('money has as many decimals as its currency', () => {
  expect(money(32_050, 'ZAR', LANGUAGES.en)).toMatch(/320.50/);
  expect(money(500, 'JPY', LANGUAGES.en)).toMatch(/500/);
  expect(money(0, 'ZAR', LANGUAGES.en)).toBe('Free');
});

test('zones of one price share a colour, the dearest has the first', () => {
  const offers = new Map([
    ['cheap', [offer(100_00)]],
    ['dear', [offer(300_00), offer(200_00)]],
    ['also cheap', [offer(100_00)]],
    ['closed', []],
  ]);
  const prices = zonePrices(offers, LANGUAGES.en);
  expect(prices.get('dear')!.colour).toBe(0);
  expect(prices.get('dear')!.label).toMatch(/^from .*200/);
  expect(prices.get('cheap')).toEqual(prices.get('also cheap'));
  expect(prices.has('closed')).toBe(false);
});

test('seats cost the sum of their prices, from the cheapest tickets to the dearest', () => {
  const offers = new Map([
    ['stalls', [offer(320_00), offer(180_00)]],
    ['floor', [offer(100_00)]],
    ['closed', []],
  ]);
  const price = (...zones: string[]) => priceTogether(zones, offers, LANGUAGES.en);
  expect(price('stalls', 'stalls')).toMatch(/360.*–.*640/);
  expect(price('floor', 'floor')).toMatch(/^R.?200.00$/);
  expect(price('floor', 'closed')).toBeUndefined();
  expect(price()).toBeUndefined();
});
