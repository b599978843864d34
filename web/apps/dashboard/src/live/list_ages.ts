export interface ListAge {
  seconds: number;
  /** It may be more. */
  isLeast: boolean;
}

/**
 * When each version of the ticket list was made, as far as the page was told: the server says it of the
 * newest only, so a page that was just opened knows less than one that has been looked at for a while.
 */
export class ListAges {
  readonly #madeMs = new Map<number, number>();

  hear(version: number | null | undefined, builtAt: string | null | undefined): void {
    if (version != null && builtAt) this.#madeMs.set(version, Date.parse(builtAt));
  }

  /**
   * For how long there has been a newer one than a device has: zero when it has the newest, null when
   * nobody knows. It may be longer when the page has not seen the next one after it.
   */
  behind(version: number | null, nowMs: number): ListAge | null {
    if (version === null || this.#madeMs.size === 0) return null;
    const newer = [...this.#madeMs].filter(([each]) => each > version).map(([, ms]) => ms);
    if (newer.length === 0) return { seconds: 0, isLeast: false };
    const seconds = Math.max(0, (nowMs - Math.min(...newer)) / 1_000);
    return { seconds, isLeast: !this.#madeMs.has(version + 1) };
  }
}
