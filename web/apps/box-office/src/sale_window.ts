import type { Event } from '@voelgoed/api';
import { dateTime } from '@voelgoed/ui';
import type { Messages } from './messages/index.ts';

/** What a customer wants to know about the sale, as a sentence. */
export function saleWindow(
  event: Event,
  timeZone: string,
  now: Date,
  { sale, locale }: Pick<Messages, 'sale' | 'locale'>,
): string {
  const { sale_start: start, sale_end: end } = event;
  if (start && now < new Date(start)) return sale.starts(dateTime(start, timeZone, locale));
  if (end && now >= new Date(end)) return sale.ended(dateTime(end, timeZone, locale));
  return end ? sale.until(dateTime(end, timeZone, locale)) : sale.on;
}
