/** A device at a gate. */
import type { Direction, Moment, Register } from '@voelgoed/rules';
import { Core } from './core.ts';
import { beat } from './heartbeat.ts';
import { hydrate } from './hydration.ts';
import { isSetAside, waitingAgain } from './ledger.ts';
import type { Progress } from './link.ts';
import { manifestInfo } from './manifest_info.ts';
import type {
  DeviceStatus,
  ExportedFile,
  HeartbeatReport,
  Identity,
  LoggedScan,
  ManifestInfo,
  ScanAnswer,
  Standing,
  Station,
  SyncReport,
  SyncStatus,
} from './model.ts';
import { chosen, type DeviceOptions } from './options.ts';
import { collect, makeChallenge, pair } from './pairing.ts';
import { practise, scan } from './scanning.ts';
import { DeviceStore } from './store.ts';
import { sync } from './sync.ts';
import { exportFiles, syncWhole } from './whole_queue.ts';

export class Device {
  readonly #core: Core;
  #hydrating: Promise<boolean> | null = null;

  private constructor(core: Core) {
    this.#core = core;
  }

  /** With all that was kept; nobody is asked. */
  static async open(options: DeviceOptions = {}): Promise<Device> {
    const given = chosen(options);
    const core = new Core(await DeviceStore.open(given.databaseName), given);
    await core.load();
    return new Device(core);
  }

  /** Null: nobody's yet. */
  get identity(): Identity | null {
    return this.#core.identity;
  }

  get standing(): Standing {
    return this.#core.standing;
  }

  get isRevoked(): boolean {
    return this.#core.standing === 'revoked';
  }

  /** As the last heartbeat was answered. */
  get station(): Station | null {
    return this.#core.station;
  }

  get register(): Register | null {
    return this.#core.register;
  }

  get manifest(): ManifestInfo | null {
    return manifestInfo(this.#core);
  }

  get status(): DeviceStatus {
    const { clock, counts, lastReport, lastSyncAt, reach, retryAt, syncing } = this.#core;
    return {
      reach,
      ...counts,
      lastSyncAt,
      lastReport,
      syncing,
      clockOffsetMs: clock.isKnown ? clock.offsetMs : null,
      isClockSure: clock.isSure,
      retryAt,
    };
  }

  /** In the server's time, as far as it is known. */
  now(): Moment {
    return this.#core.now();
  }

  /** Of anything above, also where another tab changed it. */
  onChange(listener: () => void): () => void {
    return this.#core.onChange(listener);
  }

  pair(token: string): Promise<Identity> {
    return pair(this.#core, token);
  }

  /** `challenge` is for the QR code, `token` for `collect` and nobody else. */
  askForApproval(): Promise<{ token: string; challenge: string }> {
    return makeChallenge();
  }

  /** Null: not approved yet, or not any more. */
  collect(token: string): Promise<Identity | null> {
    return collect(this.#core, token);
  }

  /** False where it has the newest manifest already. `total` is null where nobody knows it. */
  async hydrate(onProgress?: Progress): Promise<boolean> {
    this.#hydrating ??= hydrate(this.#core, onProgress).finally(() => (this.#hydrating = null));
    return await this.#hydrating;
  }

  /** Says how it is, and does what the answer asks for: another gate, another key, a newer manifest. */
  beat(report: HeartbeatReport = {}): Promise<void> {
    return beat(this.#core, report);
  }

  scan(
    text: string,
    direction: Direction,
    options: { offline?: boolean } = {},
  ): Promise<ScanAnswer> {
    return scan(this.#core, text, direction, options.offline ?? false);
  }

  /** The decision that this device would make; nothing is stored or sent. */
  practise(text: string, direction: Direction): Promise<ScanAnswer> {
    return practise(this.#core, text, direction);
  }

  /** Whatever goes wrong is said in the report. */
  sync(signal?: AbortSignal): Promise<SyncReport> {
    return sync(this.#core, signal);
  }

  syncWhole(): Promise<SyncReport> {
    return syncWhole(this.#core);
  }

  /** Until what waits is tried again, as `status.retryAt` says. */
  rest(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#core.rest(ms, { signal });
  }

  /** Somebody wants it sent now: cuts short every wait, also one that the server asked for. */
  hurry(): void {
    this.#core.hurry();
  }

  /** The network may be back: cuts short the wait after a failure, not one that the server asked for. */
  nudge(): void {
    this.#core.nudge();
  }

  /** Of what the server does not have, in its order. */
  async queue(status?: SyncStatus, most?: number): Promise<LoggedScan[]> {
    const { store } = this.#core;
    if (status !== undefined) return await store.scans(status, most);
    return (await store.waiting()).slice(0, most);
  }

  /** The newest first. */
  recent(most: number): Promise<LoggedScan[]> {
    return this.#core.store.recent(most);
  }

  /** Failed scans wait again, except those for another organisation. */
  async retry(scanIds: string[]): Promise<void> {
    await this.#core.ledger.change(scanIds, waitingAgain);
  }

  /** The same of all that failed, also of what no list shows. */
  async retryAll(): Promise<void> {
    await this.#core.ledger.retryAll();
  }

  /** What failed is not shown as such any more. It is kept, and exported, with the reason. */
  async discard(scanIds: string[], reason: string): Promise<void> {
    await this.#core.ledger.change(scanIds, (scan) =>
      scan.sync_status === 'failed'
        ? { ...scan, sync_status: 'discarded', last_error: discardedFor(scan, reason) }
        : scan,
    );
  }

  /** All that the server does not have, for somebody to import. None where it has everything. */
  exportFiles(): Promise<ExportedFile[]> {
    return exportFiles(this.#core);
  }

  setOnlineWait(ms: number): void {
    this.#core.onlineWaitMs = ms;
  }

  close(): void {
    this.#core.close();
  }
}

function discardedFor(scan: LoggedScan, reason: string): string {
  return isSetAside(scan) ? `${scan.last_error}: ${reason}` : reason;
}
