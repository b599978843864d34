import { readMoment, type Moment } from '@voelgoed/rules';
import type { Messages } from './messages/index.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 5 * SECOND_MS;
const MICROSECONDS_PER_MILLISECOND = 1_000;

const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const DAY_AND_TIME: Intl.DateTimeFormatOptions = { ...TIME, day: 'numeric', month: 'short' };

export function dateOf(moment: Moment): Date {
  return new Date(moment / MICROSECONDS_PER_MILLISECOND);
}

/** On the clock of the device's zone; with the day where it is another one than `now`'s. */
export function timeText(words: Messages, moment: Moment, now: Moment): string {
  const date = dateOf(moment);
  const isToday = date.toDateString() === dateOf(now).toDateString();
  return new Intl.DateTimeFormat(words.locale, isToday ? TIME : DAY_AND_TIME).format(date);
}

export function timeOfText(words: Messages, text: string, now: Moment): string {
  const moment = readMoment(text);
  return moment === null ? text : timeText(words, moment, now);
}

/** How long, in its largest unit: nobody at a gate counts seconds of an hour. */
export function durationText(words: Messages, ms: number): string {
  const size = Math.round(Math.abs(ms) / SECOND_MS) * SECOND_MS;
  if (size >= DAY_MS) return words.age.days(Math.floor(size / DAY_MS));
  if (size >= HOUR_MS) return words.age.hours(Math.floor(size / HOUR_MS));
  if (size >= MINUTE_MS) return words.age.minutes(Math.floor(size / MINUTE_MS));
  return words.age.seconds(size / SECOND_MS);
}

export function ageText(words: Messages, ms: number): string {
  return ms < NOW_MS ? words.age.now : words.age.ago(durationText(words, ms));
}

export function sinceText(words: Messages, moment: Moment, now: Moment): string {
  return ageText(words, (now - moment) / MICROSECONDS_PER_MILLISECOND);
}

export function numberText(words: Messages, value: number): string {
  return new Intl.NumberFormat(words.locale).format(value);
}

export function secondsText(words: Messages, ms: number): string {
  return new Intl.NumberFormat(words.locale, { maximumFractionDigits: 1 }).format(ms / SECOND_MS);
}

export function bytesText(words: Messages, bytes: number): string {
  const isLarge = bytes >= 1_000_000;
  return new Intl.NumberFormat(words.locale, {
    style: 'unit',
    unit: isLarge ? 'megabyte' : 'kilobyte',
    maximumFractionDigits: isLarge ? 1 : 0,
  }).format(bytes / (isLarge ? 1_000_000 : 1_000));
}
