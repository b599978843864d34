/** What all parts of a device share: who it is, what it knows, and how it asks. */
import type { Moment, Register } from '@voelgoed/rules';
import { momentText } from '@voelgoed/rules';
import { Breaker } from './breaker.ts';
import type { Reading } from './clock.ts';
import { DeviceClock, MICROSECONDS_PER_MS } from './clock.ts';
import { KeyRefused, NoGate, NotPaired } from './faults.ts';
import { Ledger } from './ledger.ts';
import type { Answered, Request } from './link.ts';
import { Link } from './link.ts';
import type {
  Identity,
  LastReport,
  LoggedScan,
  Reach,
  Standing,
  Station,
  SyncReport,
} from './model.ts';
import type { DeviceOptions } from './options.ts';
import { loadedRegister } from './register_file.ts';
import type { DeviceStore } from './store.ts';
import type { News } from './tabs.ts';
import { Tabs } from './tabs.ts';

export const APP_VERSION = 'voelgoed-scanner/1';

/** With a key, and so usable. */
export type Keyed = Identity & { api_key: string };

export class Core {
  readonly clock: DeviceClock;
  readonly ledger: Ledger;
  readonly link: Link;
  identity: Identity | null = null;
  standing: Standing = 'active';
  station: Station | null = null;
  register: Register | null = null;
  reach: Reach = 'offline';
  counts = { pending: 0, failed: 0, discarded: 0 };
  lastSyncAt: Moment | null = null;
  confirmedAt: Moment | null = null;
  syncing: { done: number; total: number } | null = null;
  /** By this tab. */
  isSending = false;
  lastReport: LastReport | null = null;
  retryAt: number | null = null;
  onlineWaitMs: number;
  private readonly tabs: Tabs;
  private readonly listeners = new Set<() => void>();
  private nudged = new AbortController();
  private hurried = new AbortController();

  readonly breaker: Breaker;

  constructor(
    readonly store: DeviceStore,
    readonly given: Required<DeviceOptions>,
  ) {
    this.onlineWaitMs = given.onlineWaitMs;
    this.clock = new DeviceClock(given.now, given.monotonic);
    this.tabs = new Tabs(given.databaseName, (news) => void this.hear(news));
    this.ledger = new Ledger(
      store,
      this.clock,
      (scans, isNew) => this.scansChanged(scans, isNew),
      (clock) => this.tell({ clock }),
    );
    this.breaker = new Breaker(given.monotonic);
    this.link = new Link(given, (reach) => this.judge(reach));
  }

  async load(): Promise<void> {
    await this.store.sweepManifests();
    const clock = await this.store.state('clock');
    if (clock !== null) this.clock.resume(clock);
    await this.refresh();
    await this.ledger.catchUp();
    this.counts = await this.store.counts();
    await this.loadRegister();
  }

  /** As it is on disk, where another tab may have written. */
  async refresh(): Promise<void> {
    this.identity = await this.store.state('identity');
    this.standing = (await this.store.state('standing')) ?? 'active';
    this.station = await this.store.state('station');
    this.lastSyncAt = await this.store.state('last_sync');
    this.confirmedAt = await this.store.state('confirmed');
  }

  async loadRegister(): Promise<void> {
    const kept = await this.store.manifest();
    const isOurs = kept !== null && kept.event_id === this.identity?.event_id;
    this.register = isOurs ? loadedRegister(kept) : null;
  }

  close(): void {
    this.hurry();
    this.tabs.close();
    this.listeners.clear();
    this.store.close();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed(): void {
    for (const listener of [...this.listeners]) listener();
  }

  /** Notifies subscribers, here and in other tabs. */
  tell(news: News): void {
    this.tabs.tell(news);
    this.changed();
  }

  /** Whoever waits at a gate does not wait for a count. */
  private async scansChanged(scans: LoggedScan[], isNew: boolean): Promise<void> {
    this.tabs.tell({ scans });
    if (isNew) {
      this.counts.pending += scans.filter((scan) => scan.sync_status === 'pending').length;
      this.changed();
    }
    const counted = this.recount();
    if (!isNew) await counted;
  }

  async recount(): Promise<void> {
    try {
      this.counts = await this.store.counts();
    } catch {
      // It was closed meanwhile, or cannot be read: whoever writes will hear of it.
    }
    this.changed();
  }

  private async hear(news: News): Promise<void> {
    for (const scan of news.scans ?? []) this.ledger.remember(scan);
    if (news.clock !== undefined) this.clock.adopt(news.clock);
    try {
      if (news.scans !== undefined) await this.ledger.catchUp();
      if (news.state === true) await this.refresh();
      if (news.manifest === true) await this.loadRegister();
    } catch {
      return; // closed meanwhile
    }
    await this.recount();
  }

  private judge(reach: Reach): void {
    if (reach === 'online') this.breaker.answered();
    if (this.reach === reach) return;
    this.reach = reach;
    this.changed();
  }

  get paired(): Identity {
    if (this.identity === null) throw new NotPaired();
    return this.identity;
  }

  get keyed(): Keyed {
    const identity = this.paired;
    if (!hasKey(identity)) throw new KeyRefused('revoked');
    return identity;
  }

  /** What scans are signed with: another event may have a gate with the same code. */
  get gateId(): string {
    const gateId = this.paired.gate_id;
    if (gateId === null) throw new NoGate();
    return gateId;
  }

  /** In the server's time. */
  now(): Moment {
    return this.clock.corrected(this.clock.read());
  }

  /** With this device's key and clock; or as a clock shows that is off by `offsetMs`. */
  async askOnce(request: Request, offsetMs?: number): Promise<Answered> {
    const reading = await this.ledger.read();
    const shown = offsetMs === undefined ? reading.ms : this.shownBy(reading, offsetMs);
    return await this.link.ask({
      ...request,
      apiKey: this.keyed.api_key,
      headers: {
        ...request.headers,
        'X-Device-Time': momentText(shown * MICROSECONDS_PER_MS),
      },
    });
  }

  /** What a clock shows at this moment that is off by so much, in milliseconds since 1970. */
  shownBy(reading: Reading, offsetMs: number): number {
    return reading.ms + this.clock.offsetOf(reading) - offsetMs;
  }

  /** What became of the queue, also where nobody was asked whether it should be sent. */
  report(report: SyncReport): void {
    this.lastReport = { ...report, at: this.now() };
    this.changed();
  }

  /** Between two attempts; `nudge` cuts it short where the server did not ask for it. */
  async rest(ms: number, options: { isAskedFor?: boolean; signal?: AbortSignal | undefined }) {
    const { isAskedFor = false, signal } = options;
    const signals = [this.hurried.signal];
    if (!isAskedFor) signals.push(this.nudged.signal);
    if (signal !== undefined) signals.push(signal);
    const wake = new AbortController();
    const end = () => wake.abort();
    for (const each of signals) each.addEventListener('abort', end);
    if (signal?.aborted) end();
    this.retryAt = this.given.now() + ms;
    this.changed();
    await this.given.sleep(ms, wake.signal);
    for (const each of signals) each.removeEventListener('abort', end);
    this.retryAt = null;
    this.changed();
  }

  nudge(): void {
    this.nudged.abort();
    this.nudged = new AbortController();
  }

  /** Somebody wants it now, whatever the server asked for. */
  hurry(): void {
    this.nudge();
    this.hurried.abort();
    this.hurried = new AbortController();
  }
}

function hasKey(identity: Identity): identity is Keyed {
  return identity.api_key !== null;
}
