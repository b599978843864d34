import { ApiError, coalesced } from '@voelgoed/api';

export interface ListPage<T> {
  data: T[];
  next: string | null;
}

/** A long list, as far as somebody wants to see it; read again, it is as long as it was. */
export class Listing<T> {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  items = $state.raw<T[]>([]);
  problem = $state.raw<ApiError | undefined>();
  hasMore = $state(false);
  isReading = $state(false);
  readonly load: () => Promise<void>;
  readonly #read: (after: string | undefined) => Promise<ListPage<T>>;
  #pages = 1;

  constructor(read: (after: string | undefined) => Promise<ListPage<T>>) {
    this.#read = read;
    this.load = coalesced(() => this.#load());
  }

  async more(): Promise<void> {
    this.#pages += 1;
    await this.load();
  }

  /** From the beginning, of something else. */
  async anew(): Promise<void> {
    this.#pages = 1;
    await this.load();
  }

  async #load(): Promise<void> {
    this.isReading = true;
    try {
      const items: T[] = [];
      let after: string | null = null;
      for (let page = 0; page < this.#pages; page += 1) {
        const { data, next }: ListPage<T> = await this.#read(after ?? undefined);
        items.push(...data);
        after = next;
        if (!after) break;
      }
      this.items = items;
      this.hasMore = after !== null;
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
