/**
 * Between an instant and what a field for date and time holds: the clock on the wall of a venue.
 * Browsers know only their own zone by that field, and the organiser may sit in another one.
 */

const DAY_MS = 86_400_000;
const LOCAL = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)$/;

/** What the field holds: `2026-12-04T19:30`. */
export function localOf(instant: string, timeZone: string): string {
  const ms = Date.parse(instant);
  return new Date(ms + offsetAt(ms, timeZone)).toISOString().slice(0, 16);
}

/**
 * The instant, or why there is none. When clocks go back, an hour happens twice: the first is meant.
 * When they go forward, an hour does not happen.
 */
export function instantOf(
  local: string,
  timeZone: string,
): string | 'is no moment' | 'does not exist' {
  const wall = LOCAL.test(local) ? Date.parse(`${local}:00Z`) : NaN;
  if (Number.isNaN(wall)) return 'is no moment';
  // No zone changes its clocks twice within two days.
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((ms) => offsetAt(ms, timeZone));
  const instants = offsets
    .map((offset) => wall - offset)
    .filter((ms) => ms + offsetAt(ms, timeZone) === wall);
  if (instants.length === 0) return 'does not exist';
  return new Date(Math.min(...instants)).toISOString().replace('.000Z', 'Z');
}

/** By how much the venue's clock is ahead of UTC, to the minute. */
function offsetAt(ms: number, timeZone: string): number {
  const parts = formatter(timeZone).formatToParts(ms);
  const part = (wanted: string) => Number(parts.find(({ type }) => type === wanted)?.value);
  const wall = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return wall - Math.floor(ms / 1_000) * 1_000;
}

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string): Intl.DateTimeFormat {
  let known = formatters.get(timeZone);
  if (!known) {
    const day = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric' } as const;
    known = new Intl.DateTimeFormat('en', { ...day, ...time, hourCycle: 'h23', timeZone });
    formatters.set(timeZone, known);
  }
  return known;
}
