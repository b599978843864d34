const FIRST_DELAY_MS = 500;
const DELAY_MS_MAX = 30_000;

/**
 * How long to wait before the given attempt (0 is the first retry). Half of the
 * delay is drawn by lot, so that a thousand apps do not return in one instant.
 */
export function retryDelayMs(attempt: number, random: () => number): number {
  const full = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** attempt);
  return full / 2 + (full / 2) * random();
}
