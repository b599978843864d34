/** When somebody is told that the time is nearly up. */
export const WARNING_SECONDS = 30;

/** Nobody needs more time before there is little left of it, and it can be had once. */
export const EXTEND_SECONDS = 120;

/** Whole seconds until a moment of the same clock, never less than none. */
export function secondsUntil(endsAtMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((endsAtMs - nowMs) / 1000));
}

/** `5:00` down to `0:00`. */
export function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
