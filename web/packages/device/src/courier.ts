/**
 * Decides when a device delivers its scans, and when it sends a heartbeat.
 *
 * It delivers waiting scans at the start, after a new scan, after pairing, when the network may be back,
 * and at intervals. After a failure it waits, and new scans do not shorten that; the server's answers
 * show whether there is a network.
 */
import type { Device } from './client.ts';
import { DeviceFault } from './faults.ts';
import type { Reach } from './model.ts';
import { sleep } from './options.ts';

const HEARTBEAT_MS = 30_000;
const IDLE_MS = 30_000;
/** After a batch was tried as often as it is worth. */
const RETRY_MS = 30_000;
/** Between two that new scans are the reason for: the server takes ten a minute. */
const GATHER_MS = 6_000;
/** Another tab delivers them. */
const AT_IT = ['busy', 'sending'];

export interface CourierOptions {
  /** In percent; null where nobody knows. */
  battery?: () => Promise<number | null>;
  /** Of heartbeats: a forged manifest, a key that was refused, a disk that is full. Not of a network that is away. */
  onFault?: (fault: unknown) => void;
  now?: () => number;
  random?: () => number;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export class Courier {
  readonly #device: Device;
  readonly #options: Required<CourierOptions>;
  #stopped = new AbortController();
  #beating = new AbortController();
  #idle = new AbortController();
  #gathering = new AbortController();
  #unsubscribe = () => {};
  #pending = 0;
  #reach: Reach = 'offline';
  #apiKey: string | null = null;

  constructor(device: Device, options: CourierOptions = {}) {
    this.#device = device;
    this.#options = {
      battery: async () => null,
      onFault: () => {},
      now: () => Date.now(),
      random: Math.random,
      sleep,
      ...options,
    };
  }

  start(): void {
    this.#stopped = new AbortController();
    this.#look();
    this.#unsubscribe = this.#device.onChange(() => this.#look());
    void this.#beatOn(this.#stopped.signal);
    void this.#bringOn(this.#stopped.signal);
  }

  /** The network may be back: the page was shown again, or the browser says `online`. */
  nudge(): void {
    this.#beating.abort();
    this.#hurry();
  }

  stop(): void {
    this.#unsubscribe();
    this.#stopped.abort();
    this.nudge();
  }

  #hurry(): void {
    this.#device.nudge();
    this.#gathering.abort();
    this.#idle.abort();
  }

  #look(): void {
    const { pending, reach } = this.#device.status;
    const apiKey = this.#device.identity?.api_key ?? null;
    const isOthers = apiKey !== this.#apiKey;
    this.#apiKey = apiKey;
    // Whoever has just paired it does not wait for the next time.
    if (isOthers && apiKey !== null) this.nudge();
    if (pending > this.#pending) this.#idle.abort();
    if (this.#reach === 'offline' && reach === 'online') this.#hurry();
    this.#pending = pending;
    this.#reach = reach;
  }

  async #beatOn(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      this.#beating = new AbortController();
      await this.#beat();
      await this.#options.sleep(HEARTBEAT_MS, this.#beating.signal);
    }
  }

  async #beat(): Promise<void> {
    if (!this.#device.identity?.api_key) return;
    try {
      await this.#device.beat({ battery_percent: await this.#options.battery() });
    } catch (fault) {
      this.#say(fault);
    }
  }

  async #bringOn(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      this.#idle = new AbortController();
      this.#gathering = new AbortController();
      const [idle, gathering] = [this.#idle.signal, this.#gathering.signal];
      const began = this.#options.now();
      const isInVain = await this.#bring(stopped);
      if (stopped.aborted) return;
      if (isInVain) {
        await this.#device.rest(RETRY_MS * (0.5 + this.#options.random() / 2), stopped);
        continue;
      }
      await this.#options.sleep(IDLE_MS, idle);
      const soonest = began + GATHER_MS - this.#options.now();
      if (soonest > 0) await this.#options.sleep(soonest, gathering);
    }
  }

  /** True where scans wait that could not be delivered. */
  async #bring(stopped: AbortSignal): Promise<boolean> {
    if (!this.#device.identity?.api_key || this.#device.status.pending === 0) return false;
    try {
      const { left, reason } = await this.#device.sync(stopped);
      return left > 0 && reason !== null && !AT_IT.includes(reason);
    } catch (fault) {
      this.#say(fault);
      return true;
    }
  }

  #say(fault: unknown): void {
    const isAway = fault instanceof DeviceFault && fault.code === 'server_away';
    if (!isAway) this.#options.onFault(fault);
  }
}
