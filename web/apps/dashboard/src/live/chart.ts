import type { Minute, Passed } from './minutes.ts';

/** A quiet hour still has an axis. */
const PEAK_MIN = 10;

/**
 * The whole minutes, and at the end the last sixty seconds in place of the minute that goes on:
 * that one begins at nothing, and a line that falls every minute would say that nobody comes.
 */
export function drawnMinutes(series: readonly Minute[], lately: Passed): Passed[] {
  return [...series.slice(0, -1), lately];
}

/** The top of the axis: a round number that nothing exceeds. */
export function peakOf(series: readonly Passed[]): number {
  const most = Math.max(PEAK_MIN, ...series.flatMap(({ entries, exits }) => [entries, exits]));
  const step = 10 ** Math.floor(Math.log10(most));
  return Math.ceil(most / step) * step;
}

/** Left to right, zero at the bottom and `peak` at the top. */
export function linePath(values: number[], peak: number, width: number, height: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const points = values.map(
    (value, at) => `${round(at * step)} ${round(height - (value / peak) * height)}`,
  );
  return points.length > 0 ? `M${points.join('L')}` : '';
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
