import type { Direction } from '@voelgoed/rules';
import { isLanguage, offeredLanguage, type Language, type Memory } from '@voelgoed/ui';
import { VOLUME_DEFAULT } from './feedback/sounds.ts';
import { LANGUAGES } from './messages/index.ts';

const KEY = 'voelgoed.scanner.settings';
export const ONLINE_WAIT_MS = 1_500;
export const ONLINE_WAIT_CHOICES_MS = [500, 1_000, 1_500, 2_000, 3_000, 5_000];
export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

interface Kept {
  language: Language;
  theme: Theme;
  onlineWaitMs: number;
  hasSound: boolean;
  /** From 0 to 1. */
  volume: number;
  hasVibration: boolean;
  /** Off where a hand scanner is used, to save the battery. */
  hasCamera: boolean;
  wedgePrefix: string;
  wedgeSuffix: string;
  direction: Direction;
}

function defaults(preferred: readonly string[]): Kept {
  return {
    language: offeredLanguage(preferred),
    theme: 'auto',
    onlineWaitMs: ONLINE_WAIT_MS,
    hasSound: true,
    volume: VOLUME_DEFAULT,
    hasVibration: true,
    hasCamera: true,
    wedgePrefix: '',
    wedgeSuffix: '',
    direction: 'entry',
  };
}

/** What somebody chose on this device. */
export class Settings {
  readonly #memory: Memory;
  #kept = $state.raw<Kept>(defaults([]));

  constructor(memory: Memory, preferred: readonly string[]) {
    this.#memory = memory;
    this.#kept = { ...defaults(preferred), ...readKept(memory.recall(KEY)) };
  }

  get current(): Readonly<Kept> {
    return this.#kept;
  }

  get words() {
    return LANGUAGES[this.#kept.language];
  }

  change(change: Partial<Kept>): void {
    this.#kept = { ...this.#kept, ...change };
    this.#memory.keep(KEY, JSON.stringify(this.#kept));
  }
}

/** Of what was kept, by whichever version of this app, only what still means something. */
function readKept(text: string | undefined): Partial<Kept> {
  const given = parse(text);
  const isText = (value: unknown) => typeof value === 'string';
  const isFlag = (value: unknown) => typeof value === 'boolean';
  const checks: { [Name in keyof Kept]: (value: unknown) => boolean } = {
    language: isLanguage,
    theme: (value) => THEMES.includes(value as Theme),
    onlineWaitMs: (value) => ONLINE_WAIT_CHOICES_MS.includes(value as number),
    hasSound: isFlag,
    volume: (value) => typeof value === 'number' && value >= 0 && value <= 1,
    hasVibration: isFlag,
    hasCamera: isFlag,
    wedgePrefix: isText,
    wedgeSuffix: isText,
    direction: (value) => value === 'entry' || value === 'exit',
  };
  const good = Object.entries(checks).filter(([name, check]) => check(given[name]));
  return Object.fromEntries(good.map(([name]) => [name, given[name]]));
}

function parse(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
