import { numberText } from '../format.ts';
import type { Messages } from '../messages/index.ts';

/** As it is written where the words are spoken: `R 320,00`. */
export function moneyText({ locale }: Messages, minor: number, currency: string | null): string {
  if (currency === null) return '–';
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
  return format.format(minor / 10 ** digits);
}

export function percentText(words: Messages, percent: number | null | undefined): string {
  return percent === null || percent === undefined ? '–' : `${numberText(words, percent)} %`;
}

export interface Bar {
  /** Where it begins, in seconds or days: whatever the axis counts. */
  at: number;
  values: number[];
}

export interface BarShape {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The most that bars can be told apart. */
const BARS_MAX = 240;

/** Neighbours added up until there are few enough to be seen; each spans `step` of the axis. */
export function gathered(bars: readonly Bar[], step: number): { bars: Bar[]; step: number } {
  if (bars.length === 0) return { bars: [], step };
  const first = bars[0]!.at;
  const span = bars.at(-1)!.at - first + step;
  const wide = step * Math.max(1, Math.ceil(span / step / BARS_MAX));
  const sums = new Map<number, number[]>();
  for (const { at, values } of bars) {
    const place = first + Math.floor((at - first) / wide) * wide;
    const sum = sums.get(place);
    sums.set(place, sum ? sum.map((each, index) => each + values[index]!) : [...values]);
  }
  return { bars: [...sums].map(([at, values]) => ({ at, values })), step: wide };
}

/** Of each bar its parts side by side, zero at the bottom and `peak` at the top. */
export function barShapes(
  bars: readonly Bar[],
  step: number,
  peak: number,
  { width, height }: { width: number; height: number },
): BarShape[][] {
  const first = bars[0]?.at ?? 0;
  const span = Math.max(step, (bars.at(-1)?.at ?? 0) - first + step);
  const scale = width / span;
  return bars.map(({ at, values }) => {
    const part = (step * scale * 0.9) / values.length;
    return values.map((value, index) => {
      const tall = peak > 0 ? (value / peak) * height : 0;
      return {
        x: (at - first) * scale + index * part,
        y: height - tall,
        width: part,
        height: tall,
      };
    });
  });
}
