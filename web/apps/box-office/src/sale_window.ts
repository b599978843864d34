import type { Event } from '@voelgoed/api';
import { dateTime } from '@voelgoed/ui';

/** What a customer wants to know about the sale, as a sentence. */
export function saleWindow(event: Event, timeZone: string, now: Date): string {
  const { sale_start: start, sale_end: end } = event;
  if (start && now < new Date(start)) return `Sale starts ${dateTime(start, timeZone)}`;
  if (end && now >= new Date(end)) return `Sale ended ${dateTime(end, timeZone)}`;
  return end ? `On sale until ${dateTime(end, timeZone)}` : 'On sale';
}
