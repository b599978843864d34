import type { Sound } from './sounds.ts';

/** Milliseconds on, off, on: one is in, two is look, long is no. */
const PATTERNS: Readonly<Record<Sound, number[]>> = {
  entry: [80],
  reentry: [80],
  exit: [80],
  attention: [80, 80, 80],
  refusal: [400, 100, 400],
};

type Vibrating = Partial<Pick<Navigator, 'vibrate'>>;

/** False where the device has nothing to vibrate, as on every iPhone. */
export function vibrate(sound: Sound, navigator: Vibrating = globalThis.navigator): boolean {
  return navigator.vibrate?.(PATTERNS[sound]) ?? false;
}
