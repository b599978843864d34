/** How long a code must have been out of view before it counts again. */
export const OUT_OF_VIEW_MS = 1_500;
/** The same, where another code was read in between: long enough for two codes in one picture. */
export const OUT_OF_VIEW_AFTER_ANOTHER_MS = 700;

/** A code that stays in view is read in every frame and counts once. */
export class Once {
  readonly #seenAt = new Map<string, number>();
  #newest: string | undefined;

  /** Whether the text that was read now is to be scanned. `at` is of a clock that never jumps. */
  counts(text: string, at: number): boolean {
    this.#forgetBefore(at - OUT_OF_VIEW_MS);
    const seenAt = this.#seenAt.get(text);
    const isAfterAnother = this.#newest !== text;
    this.#seenAt.set(text, at);
    this.#newest = text;
    if (seenAt === undefined) return true;
    return isAfterAnother && at - seenAt >= OUT_OF_VIEW_AFTER_ANOTHER_MS;
  }

  /** Whatever is in view counts again, as when somebody asks for it. */
  forget(): void {
    this.#seenAt.clear();
    this.#newest = undefined;
  }

  #forgetBefore(at: number): void {
    for (const [text, seenAt] of this.#seenAt) if (seenAt <= at) this.#seenAt.delete(text);
  }
}
