/** What this browser remembers between visits. A browser that forbids it just forgets. */
export class Memory {
  readonly #storage: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

  constructor(storage: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>) {
    this.#storage = storage;
  }

  recall(key: string): string | undefined {
    try {
      return this.#storage().getItem(key) ?? undefined;
    } catch {
      return undefined;
    }
  }

  keep(key: string, value: string): void {
    try {
      this.#storage().setItem(key, value);
    } catch {
      // Forgetting is all that follows.
    }
  }

  forget(key: string): void {
    try {
      this.#storage().removeItem(key);
    } catch {
      // Nothing was kept.
    }
  }
}
