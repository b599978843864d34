import type { Light, ScanAnswer } from '@voelgoed/device';
import type { Problem } from './troubles.ts';

/** How long it stays, unless somebody taps it or the next ticket comes. */
export const SHOWN_MS: Readonly<Record<Light, number>> = {
  green: 2_000,
  yellow: 2_000,
  red: 3_000,
};

export type Verdict =
  | { kind: 'answer'; answer: ScanAnswer; isPractice: boolean }
  /** Nothing was recorded, and nobody is let through. */
  | { kind: 'problem'; problem: Problem };

export function lightOf(verdict: Verdict): Light {
  if (verdict.kind === 'problem') return 'red';
  // In practice nothing is stored, and yellow would say so.
  const isLetThrough = verdict.answer.colour !== 'red';
  return verdict.isPractice && isLetThrough ? 'green' : verdict.answer.colour;
}

/** What fills the screen after a scan. */
export class VerdictState {
  current = $state.raw<Verdict | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  show(verdict: Verdict): void {
    clearTimeout(this.#timer);
    this.current = verdict;
    this.#timer = setTimeout(() => this.dismiss(), SHOWN_MS[lightOf(verdict)]);
  }

  dismiss(): void {
    clearTimeout(this.#timer);
    this.current = null;
  }
}
