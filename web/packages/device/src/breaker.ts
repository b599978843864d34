/**
 * A network that swallows what is sent costs every visitor the whole wait. After a few such waits in a
 * row the server is not asked for a while, and the device decides at once; any answer ends that.
 */
const WAITS_MAX = 2;
const PAUSE_MS = 10_000;

export class Breaker {
  #waits = 0;
  #until = -Infinity;

  constructor(private readonly monotonic: () => number) {}

  /** Nobody should be asked now. */
  get isOpen(): boolean {
    return this.monotonic() < this.#until;
  }

  waited(): void {
    this.#waits += 1;
    if (this.#waits >= WAITS_MAX) this.#until = this.monotonic() + PAUSE_MS;
  }

  answered(): void {
    this.#waits = 0;
    this.#until = -Infinity;
  }
}
