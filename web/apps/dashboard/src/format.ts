import type { Messages } from './messages/index.ts';

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

const numbers = new Map<string, Intl.NumberFormat>();

/** Hundreds of these are made in a picture, and a formatter is dear to make. */
export function numberText({ locale }: Messages, value: number): string {
  let format = numbers.get(locale);
  if (!format) numbers.set(locale, (format = new Intl.NumberFormat(locale)));
  return format.format(value);
}

/** How long, in its largest unit: who watches a fleet does not count seconds of an hour. */
export function durationText({ age }: Messages, seconds: number): string {
  const size = Math.round(Math.abs(seconds));
  if (size >= DAY_S) return age.days(Math.floor(size / DAY_S));
  if (size >= HOUR_S) return age.hours(Math.floor(size / HOUR_S));
  if (size >= MINUTE_S) return age.minutes(Math.floor(size / MINUTE_S));
  return age.seconds(size);
}

/** `4:07` */
export function countdownText(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(left / MINUTE_S)}:${String(left % MINUTE_S).padStart(2, '0')}`;
}

/** On the venue's clock. */
export function timeText({ locale }: Messages, ms: number, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, { ...TIME, timeZone }).format(ms);
}

/** With day and seconds: two scans may be seconds apart. */
export function momentText({ locale }: Messages, instant: string, timeZone: string): string {
  const day = { weekday: 'short', day: 'numeric', month: 'short' } as const;
  const options = { ...day, ...TIME, second: '2-digit', timeZone } as const;
  return new Intl.DateTimeFormat(locale, options).format(new Date(instant));
}

/** The day of an instant, at the venue. */
export function dayText({ locale }: Messages, instant: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }).format(
    new Date(instant),
  );
}
