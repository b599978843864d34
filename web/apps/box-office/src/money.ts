import type { ZonePrice } from '@voelgoed/seat-map';
import { PRICE_COLOURS } from '@voelgoed/seat-map';
import type { Messages } from './messages/index.ts';
import type { Offer } from './types.ts';

/** As it is written where the words are spoken: `R 320,00`, or the word for nothing. */
export function money(amountMinor: number, currency: string, words: Messages): string {
  if (amountMinor === 0) return words.event.free;
  const format = new Intl.NumberFormat(words.locale, { style: 'currency', currency });
  const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
  return format.format(amountMinor / 10 ** digits);
}

/** The price of each zone in words, dear ones first; zones of one price share a colour. */
export function zonePrices(
  offers: ReadonlyMap<string, readonly Offer[]>,
  words: Messages,
): Map<string, ZonePrice> {
  const sold = [...offers].filter(([, zoneOffers]) => zoneOffers.length > 0);
  const dearest = ([, zoneOffers]: (typeof sold)[number]) =>
    Math.max(...zoneOffers.map(({ amount_minor: amount }) => amount));
  sold.sort((one, other) => dearest(other) - dearest(one));
  const labels: string[] = [];
  return new Map(
    sold.map(([zoneId, zoneOffers]) => {
      const label = priceLabel(zoneOffers, words);
      if (!labels.includes(label)) labels.push(label);
      return [zoneId, { colour: Math.min(labels.indexOf(label), PRICE_COLOURS - 1), label }];
    }),
  );
}

function priceLabel(offers: readonly Offer[], words: Messages): string {
  const amounts = offers.map(({ amount_minor: amount }) => amount);
  const least = Math.min(...amounts);
  const text = money(least, offers[0]!.currency, words);
  return amounts.every((amount) => amount === least) ? text : words.event.from(text);
}

/** What one seat in each of these zones costs together, as the tickets are chosen: `R 360 – R 640`. */
export function priceTogether(
  zoneIds: readonly string[],
  offers: ReadonlyMap<string, readonly Offer[]>,
  words: Messages,
): string | undefined {
  let [least, most, currency] = [0, 0, ''];
  for (const zoneId of zoneIds) {
    const zoneOffers = offers.get(zoneId) ?? [];
    if (zoneOffers.length === 0) return undefined;
    const amounts = zoneOffers.map(({ amount_minor: amount }) => amount);
    least += Math.min(...amounts);
    most += Math.max(...amounts);
    currency = zoneOffers[0]!.currency;
  }
  if (!currency) return undefined;
  const text = money(least, currency, words);
  return least === most ? text : `${text} – ${money(most, currency, words)}`;
}
