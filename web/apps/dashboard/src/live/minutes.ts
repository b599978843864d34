import type { DeniedReason } from '@voelgoed/api';

export const MINUTE_MS = 60_000;
/** How far back the chart reaches. */
export const MINUTES_SHOWN = 60;
const MINUTES_KEPT = MINUTES_SHOWN + 1;

export interface SeenScan {
  /** The same for the same scan, whether it was read or heard of. */
  key: string;
  atMs: number;
  gateId: string;
  direction: 'entry' | 'exit';
  /** Null: let through. */
  reason: DeniedReason | null;
}

export interface Minute {
  /** Minutes since 1970. */
  minute: number;
  entries: number;
  exits: number;
}

/** Scans at a gate, people turned away among them. */
export interface GatePace {
  perMinute: number;
  /** Of its best minute of the last hour. */
  best: number;
}

interface Bin {
  entries: number;
  exits: number;
  denied: Map<DeniedReason, number>;
  /** Who came to each gate, also those who were turned away. */
  atGate: Map<string, number>;
}

/** What passed and who was turned away, minute by minute, of the last hour. */
export class Minutes {
  readonly #bins = new Map<number, Bin>();
  /** Of the last reading: what is heard of late was in it already. */
  #read = new Set<string>();
  /** Heard while a reading is on its way, which may or may not have them. */
  #meanwhile: SeenScan[] | undefined;
  #since = 0;

  beginReading(): void {
    this.#meanwhile = [];
  }

  /** `isWhole`: nothing of the last hour is left out. Else it begins after the oldest that is there. */
  finishReading(scans: SeenScan[], isWhole: boolean): void {
    this.#bins.clear();
    this.#read = new Set(scans.map(({ key }) => key));
    for (const scan of scans) this.#count(scan);
    for (const scan of this.#meanwhile ?? []) this.#countNew(scan);
    this.#meanwhile = undefined;
    const oldest = Math.min(...scans.map(({ atMs }) => atMs));
    this.#since = isWhole ? 0 : minuteOf(oldest) + 1;
  }

  giveUpReading(): void {
    this.#meanwhile = undefined;
  }

  hear(scan: SeenScan): void {
    this.#meanwhile?.push(scan);
    this.#countNew(scan);
  }

  /** The oldest first, without a hole; the last one is still going on. */
  series(nowMs: number): Minute[] {
    const last = minuteOf(nowMs);
    const first = Math.max(last - MINUTES_SHOWN + 1, this.#since);
    const minutes: Minute[] = [];
    for (let minute = first; minute <= last; minute += 1) {
      const { entries = 0, exits = 0 } = this.#bins.get(minute) ?? {};
      minutes.push({ minute, entries, exits });
    }
    return minutes;
  }

  /** Who was turned away in this minute and the `count` before it, most frequent first. */
  denied(nowMs: number, count: number): [DeniedReason, number][] {
    const last = minuteOf(nowMs);
    const found = new Map<DeniedReason, number>();
    for (const [minute, { denied }] of this.#bins) {
      if (minute < last - count || minute > last) continue;
      for (const [reason, times] of denied) found.set(reason, (found.get(reason) ?? 0) + times);
    }
    return [...found].sort((one, other) => other[1] - one[1]);
  }

  /** How much each gate does, by its last sixty seconds, and its best minute of the last hour. */
  paces(gateIds: readonly string[], nowMs: number): Map<string, GatePace> {
    const last = minuteOf(nowMs);
    const at = (minute: number, gateId: string) => this.#bins.get(minute)?.atGate.get(gateId) ?? 0;
    const best = new Map<string, number>();
    for (const { atGate } of this.#bins.values()) {
      for (const [id, count] of atGate) if (count > (best.get(id) ?? 0)) best.set(id, count);
    }
    return new Map(
      gateIds.map((id) => {
        const perMinute = slidingPace(at(last - 1, id), at(last, id), nowMs);
        return [id, { perMinute, best: Math.max(best.get(id) ?? 0, perMinute) }];
      }),
    );
  }

  #countNew(scan: SeenScan): void {
    if (!this.#read.has(scan.key)) this.#count(scan);
  }

  #count({ atMs, gateId, direction, reason }: SeenScan): void {
    const minute = minuteOf(atMs);
    let bin = this.#bins.get(minute);
    if (!bin) {
      bin = { entries: 0, exits: 0, denied: new Map(), atGate: new Map() };
      this.#bins.set(minute, bin);
      for (const old of this.#bins.keys()) {
        if (old < minute - MINUTES_KEPT) this.#bins.delete(old);
      }
    }
    if (direction === 'entry') bin.atGate.set(gateId, (bin.atGate.get(gateId) ?? 0) + 1);
    if (reason !== null) bin.denied.set(reason, (bin.denied.get(reason) ?? 0) + 1);
    else if (direction === 'entry') bin.entries += 1;
    else bin.exits += 1;
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

/** As many as in the last sixty seconds, when only whole minutes were counted. */
export function slidingPace(before: number, present: number, nowMs: number): number {
  const passed = (nowMs % MINUTE_MS) / MINUTE_MS;
  return Math.round(before * (1 - passed) + present);
}
