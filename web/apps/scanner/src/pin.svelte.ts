import type { Memory } from '@voelgoed/ui';

const KEY = 'voelgoed.scanner.pin';
const FORM = /^\d{4,8}$/;
const SALT_BYTES = 16;
const ITERATIONS = 200_000;
const DIGEST_BITS = 256;
export const ATTEMPTS_MAX = 5;
export const WAIT_MS = 30_000;

interface Kept {
  salt: string;
  digest: string;
  /** Wrong ones in a row; kept, so that a reload does not forgive them. */
  attempts: number;
  waitUntil: number;
}

export type PinAnswer = 'right' | 'wrong' | 'wait';

/** Keeps visitors' fingers out of the settings. Who can open the browser's own tools gets past it. */
export class Pin {
  isSet = $state(false);
  isOpen = $state(false);

  readonly #memory: Memory;
  readonly #now: () => number;

  constructor(memory: Memory, now: () => number = Date.now) {
    this.#memory = memory;
    this.#now = now;
    this.isSet = this.#kept !== null;
    this.isOpen = !this.isSet;
  }

  get waitSeconds(): number {
    return Math.max(0, Math.ceil(((this.#kept?.waitUntil ?? 0) - this.#now()) / 1_000));
  }

  async try(pin: string): Promise<PinAnswer> {
    const kept = this.#kept;
    if (kept === null) return this.#open();
    if (kept.waitUntil > this.#now()) return 'wait';
    if ((await digestOf(pin, kept.salt)) === kept.digest) {
      this.#keep({ ...kept, attempts: 0, waitUntil: 0 });
      return this.#open();
    }
    const attempts = kept.attempts + 1;
    const isTooMany = attempts >= ATTEMPTS_MAX;
    this.#keep({
      ...kept,
      attempts: isTooMany ? 0 : attempts,
      waitUntil: isTooMany ? this.#now() + WAIT_MS : 0,
    });
    return isTooMany ? 'wait' : 'wrong';
  }

  /** False where it is not four to eight digits. */
  async set(pin: string): Promise<boolean> {
    if (!FORM.test(pin)) return false;
    const salt = hex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)));
    this.#keep({ salt, digest: await digestOf(pin, salt), attempts: 0, waitUntil: 0 });
    this.isSet = true;
    return true;
  }

  remove(): void {
    this.#memory.forget(KEY);
    this.isSet = false;
    this.isOpen = true;
  }

  /** The next one who comes is asked again. */
  lock(): void {
    this.isOpen = !this.isSet;
  }

  #open(): PinAnswer {
    this.isOpen = true;
    return 'right';
  }

  get #kept(): Kept | null {
    const text = this.#memory.recall(KEY);
    return text === undefined ? null : (JSON.parse(text) as Kept);
  }

  #keep(kept: Kept): void {
    this.#memory.keep(KEY, JSON.stringify(kept));
  }
}

async function digestOf(pin: string, salt: string): Promise<string> {
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', encoder.encode(pin), 'PBKDF2', false, [
    'deriveBits',
  ]);
  const how = {
    name: 'PBKDF2',
    hash: 'SHA-256',
    salt: encoder.encode(salt),
    iterations: ITERATIONS,
  };
  return hex(new Uint8Array(await crypto.subtle.deriveBits(how, key, DIGEST_BITS)));
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
