import type { Device } from '@voelgoed/device';
import { readBarcode } from '@voelgoed/rules';
import type { TroubleCode } from './messages/index.ts';
import { readTyped } from './input/typed.ts';
import { problem, problemOf, type Problem } from './troubles.ts';

export const COLLECT_EVERY_MS = 3_000;

export type Way = 'scan' | 'type' | 'show';

/** How this device becomes somebody's. */
export class Pairing {
  way = $state<Way | null>(null);
  /** For a device that is paired already: somebody wants to pair it again. */
  isWanted = $state(false);
  isBusy = $state(false);
  problem = $state.raw<Problem | null>(null);
  /** What this device shows as its QR code. */
  challenge = $state<string | null>(null);

  readonly #device: Pick<Device, 'pair' | 'askForApproval' | 'collect'>;
  readonly #onPaired: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    device: Pick<Device, 'pair' | 'askForApproval' | 'collect'>,
    onPaired: () => void = () => undefined,
  ) {
    this.#device = device;
    this.#onPaired = onPaired;
  }

  choose(way: Way | null): void {
    this.#stopAsking();
    this.way = way;
    this.problem = null;
    if (way === 'show') void this.#show();
  }

  /** What was typed, or read by the camera. */
  async give(text: string): Promise<void> {
    if (this.isBusy) return;
    const token = tokenIn(text);
    if (token === null) {
      this.problem = problem(readBarcode(text) ? 'token_is_ticket' : 'token_unreadable');
      return;
    }
    this.isBusy = true;
    this.problem = null;
    try {
      await this.#device.pair(token);
      this.#done();
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    this.isBusy = false;
  }

  async #show(): Promise<void> {
    try {
      const { token, challenge } = await this.#device.askForApproval();
      if (this.way !== 'show') return;
      this.challenge = challenge;
      this.#askSoon(token);
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  #askSoon(token: string): void {
    this.#timer = setTimeout(() => void this.#collect(token), COLLECT_EVERY_MS);
  }

  async #collect(token: string): Promise<void> {
    try {
      const identity = await this.#device.collect(token);
      if (identity) return this.#done();
      // Why the code before this one was in vain stays until it is paired.
      if (!isOfAnotherDevice(this.problem?.code)) this.problem = null;
    } catch (thrown) {
      this.problem = problemOf(thrown);
      // What was approved for another device, or as a new one, cannot be approved again: it needs a new code.
      if (isOfAnotherDevice(this.problem.code)) return this.#show();
      // It keeps asking: a network that comes back is no reason to begin again.
    }
    if (this.challenge !== null) this.#askSoon(token);
  }

  #done(): void {
    this.choose(null);
    this.isWanted = false;
    this.#onPaired();
  }

  #stopAsking(): void {
    clearTimeout(this.#timer);
    this.challenge = null;
  }
}

function isOfAnotherDevice(code: TroubleCode | undefined): boolean {
  return code === 'device_already_paired' || code === 'pairing_for_another_device';
}

/** The token alone, or an address that ends with it. */
export function tokenIn(text: string): string | null {
  const last =
    text
      .trim()
      .split(/[/#=?]/)
      .at(-1) ?? '';
  return readTyped(last);
}
