interface Locking {
  request(type: 'screen'): Promise<WakeLockSentinel>;
}

type Page = Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>;

/** Keeps the screen on. The browser takes the lock away whenever the page is hidden. */
export class WakeLock {
  readonly #locking: Locking | null;
  readonly #page: Page;
  readonly #onChange: (isHeld: boolean) => void;
  #sentinel: WakeLockSentinel | undefined;
  #isWanted = false;
  #isAsking = false;

  constructor(
    onChange: (isHeld: boolean) => void = () => undefined,
    locking: Locking | null = globalThis.navigator.wakeLock ?? null,
    page: Page = globalThis.document,
  ) {
    this.#onChange = onChange;
    this.#locking = locking;
    this.#page = page;
  }

  get isHeld(): boolean {
    return this.#sentinel !== undefined;
  }

  /** Until the returned function is called. */
  hold(): () => void {
    this.#isWanted = true;
    const look = () => void this.#ask();
    this.#page.addEventListener('visibilitychange', look);
    void this.#ask();
    return () => {
      this.#isWanted = false;
      this.#page.removeEventListener('visibilitychange', look);
      void this.#sentinel?.release();
    };
  }

  async #ask(): Promise<void> {
    if (!this.#isWanted || this.isHeld || this.#isAsking) return;
    if (!this.#locking || this.#page.visibilityState !== 'visible') return;
    this.#isAsking = true;
    try {
      const sentinel = await this.#locking.request('screen');
      sentinel.addEventListener('release', () => this.#hold(undefined), { once: true });
      this.#hold(sentinel);
      if (!this.#isWanted) void sentinel.release();
    } catch {
      // Refused, as with an empty battery. The next time that the page is seen it is asked again.
    } finally {
      this.#isAsking = false;
    }
  }

  #hold(sentinel: WakeLockSentinel | undefined): void {
    this.#sentinel = sentinel;
    this.#onChange(this.isHeld);
  }
}
