/**
 * A device's scans: stored, signed, and signed again when its key changes.
 *
 * A scan is never rewritten, because the server may have it already though its answer was lost. Each scan
 * has the offset of the clock that it was read from: the time between its two moments. Several tabs make
 * scans of one device; each has all of them in memory, and the disk decides.
 */
import type { Moment, OwnScan, Register, SignedFields } from '@voelgoed/rules';
import { momentText, parseMoment, signScan } from '@voelgoed/rules';
import type { DeviceClock, Reading } from './clock.ts';
import { MICROSECONDS_PER_MS } from './clock.ts';
import { isOfDisk } from './faults.ts';
import type { ClockState, Exportable, LoggedScan } from './model.ts';
import type { DeviceStore, Tx } from './store.ts';

/** Of what the server has, so many can be looked at on the device. */
const SYNCED_KEPT_MIN = 500;
/** Whatever event it was of is over, or has a manifest that counts it. */
const SYNCED_KEPT_US_MAX = 7 * 86_400 * 1_000_000;
const SET_ASIDE = 'another_organization';

/** `isNew`: it was made just now. */
export type Changed = (scans: LoggedScan[], isNew: boolean) => Promise<void>;
/** `again`: more is known than it was decided by; `key`: it has to be signed with another one. */
export type Added = 'added' | 'again' | 'key';

/** Up to which scan, and with which clock, something was known. */
export interface Horizon {
  place: number;
  offsetMs: number;
}

export function signedFields(scan: Exportable): SignedFields {
  const { scan_id, ticket_id, barcode_hash, scanned_at, gate_id } = scan;
  return { scan_id, ticket_id, barcode_hash, scanned_at, gate_id };
}

export async function signed(scan: LoggedScan, apiKey: string): Promise<LoggedScan> {
  return { ...scan, signature: await signScan(signedFields(scan), apiKey) };
}

export function offsetMsOf(scan: Exportable): number {
  const us = parseMoment(scan.scanned_at_corrected) - parseMoment(scan.scanned_at);
  return us / MICROSECONDS_PER_MS;
}

/** Failed scans wait again, except those for another organisation. */
export function waitingAgain(scan: LoggedScan): LoggedScan {
  if (scan.sync_status !== 'failed' || isSetAside(scan)) return scan;
  return { ...scan, sync_status: 'pending', refusal_count: 0 };
}

/** The scan belongs to another organisation, and is not delivered to the present one. */
export function isSetAside(scan: LoggedScan): boolean {
  return scan.last_error?.startsWith(SET_ASIDE) ?? false;
}

export class Ledger {
  /** The admissions of this device, by ticket. */
  readonly own = new Map<string, OwnScan[]>();
  private readonly byId = new Map<string, OwnScan>();
  /** All that was made up to here is in memory. */
  private lastPlace = 0;
  private keptOffsetMs: number;

  constructor(
    private readonly store: DeviceStore,
    private readonly clock: DeviceClock,
    /** After it is on the disk. */
    private readonly onChanged: Changed,
    private readonly onClock: (state: ClockState) => void,
  ) {
    this.keptOffsetMs = clock.offsetMs;
  }

  /** What other tabs, or this one in another life, have made since. */
  async catchUp(): Promise<void> {
    const { scans, lastPlace } = await this.store.scansAfter(this.lastPlace);
    for (const scan of scans) this.remember(scan);
    this.lastPlace = lastPlace;
  }

  /** The moment by the device's clock. A jump is stored, because a start hides it. */
  async read(): Promise<Reading> {
    const reading = this.clock.read();
    if (this.clock.offsetMs !== this.keptOffsetMs) {
      await this.keepClockAlone();
      this.onClock(this.clock.state);
    }
    return reading;
  }

  /** A disk that is full is no reason not to ask the server. A scan is not kept without the clock. */
  private async keepClockAlone(): Promise<void> {
    try {
      await this.store.write((tx) => this.keepClock(tx));
    } catch (fault) {
      if (!isOfDisk(fault)) throw fault;
    }
  }

  /**
   * What the server says of the clock. By as much as we were wrong about it, the scans were that were
   * made when nobody knew.
   */
  async learn(offsetSeconds: number, roundTripMs: number): Promise<void> {
    const before = this.clock.offsetMs;
    if (!this.clock.learn(offsetSeconds, roundTripMs)) return;
    const errorUs = (this.clock.offsetMs - before) * MICROSECONDS_PER_MS;
    const isSure = this.clock.isSure;
    const moved = await this.store.write(async (tx) => {
      await this.keepClock(tx);
      const unsure = (await tx.waiting()).filter(
        (scan) => scan.sync_status === 'pending' && !scan.is_measured,
      );
      const after = unsure.map((scan) => movedBy(scan, errorUs, isSure));
      await Promise.all(after.map((scan) => tx.put(scan)));
      return after;
    });
    await this.noteAll(moved);
    this.onClock(this.clock.state);
  }

  private async keepClock(tx: Tx): Promise<void> {
    this.keptOffsetMs = this.clock.offsetMs;
    await tx.keep('clock', this.clock.state);
  }

  /** What a decision about this reading is made from; to be asked for before it is made. */
  horizon(reading: Reading): Horizon {
    return { place: this.lastPlace, offsetMs: this.clock.offsetOf(reading) };
  }

  /** It is on the disk when this resolves, if it was decided here by all that is known by then. */
  async addOwn(
    scan: LoggedScan,
    apiKey: string,
    reading: Reading,
    horizon: Horizon,
  ): Promise<Added> {
    if (this.clock.offsetOf(reading) !== horizon.offsetMs) return 'again';
    return await this.add(scan, apiKey, (last) => last === horizon.place);
  }

  /** What the server has decided is written whatever else is known. */
  async addHeard(scan: LoggedScan, apiKey: string): Promise<Added> {
    return await this.add(scan, apiKey, () => true);
  }

  private async add(
    scan: LoggedScan,
    apiKey: string,
    isKnown: (lastPlace: number) => boolean,
  ): Promise<Added> {
    const is_measured = this.clock.isSure;
    const added = await this.store.write(async (tx): Promise<LoggedScan | 'again' | 'key'> => {
      const [identity, last, written] = await Promise.all([
        tx.state('identity'),
        tx.lastPlace(),
        tx.scan(scan.scan_id),
      ]);
      // By a transaction of which nobody heard how it ended, when the browser closed the database.
      if (written !== null) return written;
      if (identity?.api_key !== apiKey) return 'key';
      if (!isKnown(last)) return 'again';
      const placed = { ...scan, is_measured, place: last + 1 };
      await Promise.all([tx.put(placed), this.keepClock(tx)]);
      return placed;
    });
    if (added === 'key') return added;
    if (added === 'again') {
      await this.catchUp();
      return added;
    }
    this.remember(added);
    if (added.place === this.lastPlace + 1) this.lastPlace = added.place;
    await this.onChanged([added], true);
    return 'added';
  }

  /** Changes those of them that are still there, by what they are at that moment. */
  async change(
    scanIds: readonly string[],
    change: (scan: LoggedScan) => LoggedScan,
    besides: (tx: Tx) => Promise<void> = async () => undefined,
  ): Promise<LoggedScan[]> {
    const changed = await this.store.write(async (tx) => {
      const found = await Promise.all(scanIds.map((scanId) => tx.scan(scanId)));
      const after = found.filter((scan) => scan !== null).map(change);
      await Promise.all(after.map((scan) => tx.put(scan)));
      await besides(tx);
      return after;
    });
    await this.noteAll(changed);
    return changed;
  }

  /** All that failed, however many. */
  async retryAll(): Promise<void> {
    const failed = await this.store.scans('failed');
    await this.change(
      failed.map((scan) => scan.scan_id),
      waitingAgain,
    );
  }

  /**
   * What waits is signed with another key in the transaction that keeps that key. What is on its way
   * has the old signatures; it is sent under another batch id, for a scan is one scan whichever batch
   * it comes with.
   */
  async signAnew(
    apiKey: string,
    /** False: it is not to be kept after all. */
    keepKey: (tx: Tx) => Promise<boolean>,
    isOurs = true,
  ): Promise<void> {
    const signatures = new Map<string, string>();
    let changed: LoggedScan[] | null = null;
    while (changed === null) {
      for (const scan of await this.store.waiting()) {
        if (signatures.has(scan.scan_id)) continue;
        signatures.set(scan.scan_id, await signScan(signedFields(scan), apiKey));
      }
      changed = await this.store.writeAll(async (tx) => {
        const waiting = await tx.waiting();
        if (!waiting.every((scan) => signatures.has(scan.scan_id))) return null;
        if (!(await keepKey(tx))) return [];
        const after = waiting.map((scan) => rekeyed(scan, signatures, isOurs));
        await Promise.all(after.map((scan) => tx.put(scan)));
        await tx.forget('outgoing');
        return after;
      });
    }
    await this.noteAll(changed);
  }

  /** What the server has, the manifest counts, and nobody looks at any more. */
  async trim(register: Register, now: Moment): Promise<void> {
    const generatedAt = register.generatedAt;
    await this.store.write(async (tx) => {
      const older = (await tx.synced()).slice(0, -SYNCED_KEPT_MIN);
      const gone = older.filter((scan) => {
        const at = parseMoment(scan.synced_at ?? scan.scanned_at_corrected);
        const isOfThisEvent = register.gates.has(scan.gate_id);
        return (isOfThisEvent && at < generatedAt) || at < now - SYNCED_KEPT_US_MAX;
      });
      await tx.forgetSynced(gone.map((scan) => scan.scan_id));
    });
  }

  remember(scan: LoggedScan): void {
    if (scan.outcome !== 'valid' || scan.ticket_id === null) return;
    const now: OwnScan = {
      ticket_id: scan.ticket_id,
      at: parseMoment(scan.scanned_at_corrected),
      direction: scan.direction,
      gate: scan.gate_id,
      acknowledged_at: scan.synced_at === null ? null : parseMoment(scan.synced_at),
    };
    const before = this.byId.get(scan.scan_id);
    const others = (this.own.get(scan.ticket_id) ?? []).filter((each) => each !== before);
    this.own.set(scan.ticket_id, [...others, now]);
    this.byId.set(scan.scan_id, now);
  }

  private async noteAll(scans: LoggedScan[]): Promise<void> {
    for (const scan of scans) this.remember(scan);
    if (scans.length > 0) await this.onChanged(scans, false);
  }
}

function movedBy(scan: LoggedScan, errorUs: number, isSure: boolean): LoggedScan {
  const at = parseMoment(scan.scanned_at_corrected) + errorUs;
  return { ...scan, scanned_at_corrected: momentText(at), is_measured: isSure };
}

/** What was made for another organisation keeps its signature: it is only for them to verify. */
function rekeyed(
  scan: LoggedScan,
  signatures: ReadonlyMap<string, string>,
  isOurs: boolean,
): LoggedScan {
  if (isSetAside(scan)) return scan;
  if (!isOurs) return setAside(scan);
  const signature = signatures.get(scan.scan_id) ?? scan.signature;
  return { ...scan, signature, refusal_count: 0 };
}

function setAside(scan: LoggedScan): LoggedScan {
  const why = scan.last_error === null ? SET_ASIDE : `${SET_ASIDE}: ${scan.last_error}`;
  const sync_status = scan.sync_status === 'pending' ? 'failed' : scan.sync_status;
  return { ...scan, sync_status, last_error: why };
}
