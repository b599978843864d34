import { KeyRefused, type Device } from '@voelgoed/device';
import { problemOf, type Problem } from './troubles.ts';

export type Result = 'fetched' | 'newest';

/** Fetching the manifest, as somebody sees it who waits for it. */
export class Hydration {
  isFetching = $state(false);
  received = $state(0);
  total = $state<number | null>(null);
  problem = $state.raw<Problem | null>(null);
  result = $state<Result | null>(null);

  readonly #device: Pick<Device, 'hydrate'>;

  constructor(device: Pick<Device, 'hydrate'>) {
    this.#device = device;
  }

  /** All of it is here, and looked at before any of it is kept. */
  get isVerifying(): boolean {
    return this.isFetching && this.total !== null && this.received >= this.total;
  }

  /** The failure of an automatic fetch. */
  fail(thrown: unknown): void {
    // What the server thinks of the key is told elsewhere, and does not go away by fetching.
    if (!(thrown instanceof KeyRefused)) this.problem = problemOf(thrown);
  }

  async fetch(): Promise<void> {
    if (this.isFetching) return;
    this.isFetching = true;
    this.received = 0;
    this.total = null;
    this.problem = null;
    this.result = null;
    try {
      const isNew = await this.#device.hydrate((received, total) => {
        this.received = received;
        this.total = total;
      });
      this.result = isNew ? 'fetched' : 'newest';
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    this.isFetching = false;
  }
}
