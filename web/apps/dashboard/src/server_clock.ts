/** The server's time, as well as its answers tell it: whole seconds, which is enough for countdowns. */
export class ServerClock {
  #aheadMs = 0;
  readonly #own: () => number;

  constructor(own: () => number = Date.now) {
    this.#own = own;
  }

  now(): number {
    return this.#own() + this.#aheadMs;
  }

  hear(response: Response): Response {
    const told = Date.parse(response.headers.get('Date') ?? '');
    // The header has no fractions: half a second is the best guess of what was cut off.
    if (!Number.isNaN(told)) this.#aheadMs = told + 500 - this.#own();
    return response;
  }
}
