/** What a device is given, so that tests can choose its clocks, its luck and its patience. */
import type { Locks } from './locks.ts';
import { processLocks } from './locks.ts';

export const DATABASE_NAME = 'voelgoed-scanner';
/** Nobody at a gate waits longer for a network. */
export const ONLINE_WAIT_MS = 1_500;
/** A timer that is set for longer goes off at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface DeviceOptions {
  databaseName?: string;
  fetch?: typeof fetch;
  /** Milliseconds since 1970, by a clock that may be wrong and may be set. */
  now?: () => number;
  /** Milliseconds, by a clock that nobody can set. */
  monotonic?: () => number;
  /** From 0 up to and not including 1. */
  random?: () => number;
  /** Between attempts. Ends early, without a fault, when the signal aborts. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** For answers that do not come: calls `then` after so long, unless what it returns is called first. */
  timer?: (ms: number, then: () => void) => () => void;
  locks?: Locks;
  /** Where the server is; '' is where this page comes from. */
  url?: string;
  onlineWaitMs?: number;
}

export function chosen(options: DeviceOptions): Required<DeviceOptions> {
  return {
    databaseName: options.databaseName ?? DATABASE_NAME,
    fetch: options.fetch ?? ((...asked) => fetch(...asked)),
    now: options.now ?? (() => Date.now()),
    monotonic: options.monotonic ?? (() => performance.now()),
    random: options.random ?? Math.random,
    sleep: options.sleep ?? sleep,
    timer: options.timer ?? timer,
    locks: options.locks ?? browserLocks() ?? processLocks,
    url: (options.url ?? '').replace(/\/+$/, ''),
    onlineWaitMs: options.onlineWaitMs ?? ONLINE_WAIT_MS,
  };
}

function browserLocks(): Locks | undefined {
  const has: { locks?: Locks } | undefined = globalThis.navigator;
  return has?.locks;
}

export function timer(ms: number, then: () => void): () => void {
  const id = setTimeout(then, Math.min(ms, TIMER_MS_MAX));
  return () => clearTimeout(id);
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = timer(ms, wake);
    signal?.addEventListener('abort', wake);
  });
}
