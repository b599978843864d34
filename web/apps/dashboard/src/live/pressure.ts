import { MINUTE_MS, type GatePace, type Minute } from './minutes.ts';

/** A gate that has shown little is taken to do at least so much: one person with one scanner does. */
const GATE_CAN_AT_LEAST = 10;
/** Of what it can do: from here on it is busy, and from there on it cannot take much more. */
const BUSY_LOAD = 0.5;
const PRESSED_LOAD = 0.85;
/** A rush that is over within so many minutes needs nobody to come and help. */
const RUSH_MINUTES_MIN = 5;
/** How fast people come in is judged by so many minutes. */
const PACE_MINUTES = 5;
/** Who comes in so slowly comes for another reason than the beginning of the show. */
const PACE_MIN = 1;
const FORECAST_MS_MAX = 12 * 60 * MINUTE_MS;

export type Pressure = 'quiet' | 'busy' | 'pressed';

export interface GatePressure extends GatePace {
  level: Pressure;
}

/** When everybody is in, as people come now; `never` where hardly anybody comes. */
export type Forecast = { kind: 'all_in' } | { kind: 'at'; ms: number } | { kind: 'never' };

/**
 * A gate is under pressure when it does nearly all that it can, and those still to come, at the pace
 * of all gates together, would keep it so for minutes.
 */
export function pressureOf(pace: GatePace, toCome: number, allPerMinute: number): Pressure {
  const load = pace.perMinute / Math.max(pace.best, GATE_CAN_AT_LEAST);
  if (load < BUSY_LOAD) return 'quiet';
  const isLasting = toCome >= RUSH_MINUTES_MIN * allPerMinute;
  return load >= PRESSED_LOAD && isLasting ? 'pressed' : 'busy';
}

export function pressures(
  paces: ReadonlyMap<string, GatePace>,
  toCome: number,
): Map<string, GatePressure> {
  const all = [...paces.values()].reduce((sum, { perMinute }) => sum + perMinute, 0);
  return new Map(
    [...paces].map(([id, pace]) => [id, { ...pace, level: pressureOf(pace, toCome, all) }]),
  );
}

/** By the last whole minutes in which people came; the present one is not over. */
export function forecast(toCome: number, series: Minute[], nowMs: number): Forecast {
  if (toCome <= 0) return { kind: 'all_in' };
  const recent = series.slice(-PACE_MINUTES - 1, -1).map(({ entries }) => entries);
  const since = recent.findIndex((entries) => entries > 0);
  const counted = since < 0 ? [] : recent.slice(since);
  const perMinute = counted.reduce((sum, entries) => sum + entries, 0) / counted.length;
  if (!(perMinute >= PACE_MIN)) return { kind: 'never' };
  const leftMs = (toCome / perMinute) * MINUTE_MS;
  return leftMs > FORECAST_MS_MAX ? { kind: 'never' } : { kind: 'at', ms: nowMs + leftMs };
}
