import type { TicketType } from '@voelgoed/api';
import { moneyText } from '../forms/money.ts';
import type { Messages } from '../messages/index.ts';

/** `R 120,00`, or from the least to the most where zones differ. */
export function priceText({ locale }: Messages, { prices, currency }: TicketType): string {
  const amounts = prices.map(({ amount_minor: amount }) => amount);
  const ends = new Set([Math.min(...amounts), Math.max(...amounts)]);
  return [...ends].map((amount) => moneyText(amount, currency, locale)).join(' – ');
}

/** What it lets in to and how many are gone: `Places without numbers · One entry · 40 of 100 taken`. */
export function ticketFacts({ tickets }: Messages, type: TicketType): string {
  const taken =
    type.quota === null ? tickets.taken(type.taken) : tickets.takenOf(type.taken, type.quota);
  const staff = type.sold_by === 'staff' ? tickets.sellers.staff : undefined;
  const parts = [tickets.kinds[type.kind], tickets.entitlements[type.entitlement], taken, staff];
  return parts.filter(Boolean).join(' · ');
}
