const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 4_000;

export type Reach = 'checking' | 'reachable' | 'unreachable';

/** Whether the server answers. The browser's own "online" says nothing about that. */
export class ServerCheck {
  reach = $state<Reach>('checking');

  readonly #ask: (signal: AbortSignal) => Promise<{ ok: boolean }>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking = false;

  constructor(ask: (signal: AbortSignal) => Promise<{ ok: boolean }>) {
    this.#ask = ask;
  }

  /** Asks at once and then every few seconds, until the returned function is called. */
  start(): () => void {
    const stopped = new AbortController();
    const next = async () => {
      await this.now();
      if (!stopped.signal.aborted) this.#timer = setTimeout(next, INTERVAL_MS);
    };
    void next();
    return () => {
      stopped.abort();
      clearTimeout(this.#timer);
    };
  }

  async now(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    const ok = await this.#ask(AbortSignal.timeout(TIMEOUT_MS)).then(
      (response) => response.ok,
      () => false,
    );
    this.#asking = false;
    this.reach = ok ? 'reachable' : 'unreachable';
  }
}
