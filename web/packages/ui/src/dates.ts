const DAY: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
};
const TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/** An instant on the clock of the venue, with the name of that clock's zone. */
export function dateTime(instant: string, timeZone: string, locale: string): string {
  const options = { ...DAY, ...TIME, timeZoneName: 'short' } as const;
  return formatter(options, timeZone, locale).format(new Date(instant));
}

/** From and to, as short as it stays clear: day and zone are named once where they agree. */
export function dateTimeRange(from: string, to: string, timeZone: string, locale: string): string {
  const start = new Date(from);
  const end = new Date(to);
  const zone = zoneName(start, timeZone, locale);
  if (zone !== zoneName(end, timeZone, locale)) {
    return `${dateTime(from, timeZone, locale)} – ${dateTime(to, timeZone, locale)}`;
  }
  const range = formatter({ ...DAY, ...TIME }, timeZone, locale).formatRange(start, end);
  return `${range} ${zone}`;
}

/** The hours of one day, which may end after midnight, beside a date that is named elsewhere. */
export function timeRange(from: string, to: string, timeZone: string, locale: string): string {
  const format = formatter(TIME, timeZone, locale);
  return `${format.format(new Date(from))}–${format.format(new Date(to))}`;
}

/** A date of the calendar, such as `2026-12-04`, which is no instant and has no zone. */
export function calendarDay(date: string, locale: string): string {
  return formatter(DAY, 'UTC', locale).format(new Date(`${date}T00:00:00Z`));
}

function zoneName(instant: Date, timeZone: string, locale: string): string {
  const parts = formatter({ timeZoneName: 'short' }, timeZone, locale).formatToParts(instant);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;
}

function formatter(
  options: Intl.DateTimeFormatOptions,
  timeZone: string,
  locale: string,
): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone });
  } catch {
    // An old browser may not know a new zone. The zone is printed with the time: not a lie.
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  }
}
