import { ApiError, coalesced } from '@voelgoed/api';

/** One thing that is read from the server: under way, there, or not and why. */
export class Reading<T> {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  /** What was read last; stays when a later reading fails. */
  value = $state.raw<T | undefined>();
  problem = $state.raw<ApiError | undefined>();
  isReading = $state(false);
  readonly load: () => Promise<void>;

  constructor(read: () => Promise<T>) {
    this.load = coalesced(() => this.#load(read));
  }

  async #load(read: () => Promise<T>): Promise<void> {
    this.isReading = true;
    try {
      this.value = await read();
      this.problem = undefined;
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      if (this.status === 'loading') this.status = 'failed';
    } finally {
      this.isReading = false;
    }
  }
}
