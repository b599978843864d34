import type { SalesReport } from '@voelgoed/api';
import { numberText } from '../format.ts';
import type { Messages } from '../messages/index.ts';
import { moneyText, percentText } from './figures.ts';

export const DAY_S = 24 * 60 * 60;

/** A calendar day on an axis that counts seconds, and back. */
export function dayAt(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}

export function dayOf(at: number): string {
  return new Date(at * 1000).toISOString().slice(0, 10);
}

type Sold = SalesReport['total'];

/** One line of a table of sales. */
export function salesRow(
  words: Messages,
  name: string,
  sold: Sold,
  currency: string | null,
): string[] {
  const counts = [
    sold.valid,
    sold.sold,
    sold.complimentary,
    sold.imported,
    sold.refunded,
    sold.voided,
  ];
  return [
    name,
    ...counts.map((count) => numberText(words, count ?? 0)),
    moneyText(words, sold.net_minor ?? 0, currency),
    percentText(words, sold.percent_sold),
  ];
}
