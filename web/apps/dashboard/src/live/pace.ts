/**
 * Runs `work` at once, and then at most every `pauseMs` however often it is asked for: hundreds of
 * messages a second are a few pictures a second, and the last one shows all of them.
 */
export class Pace {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAskedFor = false;
  readonly #work: () => void;
  readonly #pauseMs: number;

  constructor(work: () => void, pauseMs: number) {
    this.#work = work;
    this.#pauseMs = pauseMs;
  }

  ask(): void {
    if (this.#timer === undefined) this.#run();
    else this.#isAskedFor = true;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isAskedFor = false;
  }

  #run(): void {
    this.#isAskedFor = false;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isAskedFor) this.#run();
    }, this.#pauseMs);
    this.#work();
  }
}
