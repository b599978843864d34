import type { DeniedReason } from '@voelgoed/api';

export const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const MINUTE_SECONDS = MINUTE_MS / SECOND_MS;
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

export type Passed = Pick<Minute, 'entries' | 'exits'>;

/** Who came to a gate in the last sixty seconds: whom it turned away is work for it too. */
export interface GatePace {
  perMinute: number;
  /** Of those. */
  turnedAway: number;
  /** Of its best minute of the last hour. */
  best: number;
}

interface Came {
  all: number;
  turnedAway: number;
}

interface Bin extends Passed {
  denied: Map<DeniedReason, number>;
  atGate: Map<string, Came>;
}

/** What passed and who was turned away, minute by minute, of the last hour. */
export class Minutes {
  readonly #bins = new Map<number, Bin>();
  /** The last minute by its seconds: whole minutes cannot say what its last sixty were. */
  readonly #seconds = new Map<number, Bin>();
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
    this.#seconds.clear();
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

  /** Who passed in the last sixty seconds. */
  lately(nowMs: number): Passed {
    const passed = { entries: 0, exits: 0 };
    for (const { entries, exits } of this.#latest(nowMs)) {
      passed.entries += entries;
      passed.exits += exits;
    }
    return passed;
  }

  /** How much each gate does, by its last sixty seconds, and its best minute of the last hour. */
  paces(gateIds: readonly string[], nowMs: number): Map<string, GatePace> {
    const latest = this.#latest(nowMs);
    const minutes = [...this.#bins.values()];
    const came = (bins: Bin[], id: string) => bins.map(({ atGate }) => atGate.get(id) ?? NOBODY);
    return new Map(
      gateIds.map((id) => {
        const now = came(latest, id);
        const perMinute = now.reduce((sum, { all }) => sum + all, 0);
        const turnedAway = now.reduce((sum, each) => sum + each.turnedAway, 0);
        const best = Math.max(perMinute, ...came(minutes, id).map(({ all }) => all));
        return [id, { perMinute, turnedAway, best }];
      }),
    );
  }

  #latest(nowMs: number): Bin[] {
    // What is a second ahead of us belongs to it too: our clock is the server's to the second only.
    const since = secondOf(nowMs) - MINUTE_SECONDS;
    return [...this.#seconds].filter(([second]) => second > since).map(([, bin]) => bin);
  }

  #countNew(scan: SeenScan): void {
    if (!this.#read.has(scan.key)) this.#count(scan);
  }

  #count(scan: SeenScan): void {
    add(scan, this.#bins, minuteOf(scan.atMs), MINUTES_KEPT);
    add(scan, this.#seconds, secondOf(scan.atMs), MINUTE_SECONDS);
  }
}

const NOBODY: Came = { all: 0, turnedAway: 0 };

/** Counts it in the bin it belongs to, and forgets those that are more than `kept` before it. */
function add(
  { gateId, direction, reason }: SeenScan,
  bins: Map<number, Bin>,
  at: number,
  kept: number,
) {
  let bin = bins.get(at);
  if (!bin) {
    bin = { entries: 0, exits: 0, denied: new Map(), atGate: new Map() };
    bins.set(at, bin);
    for (const old of bins.keys()) if (old < at - kept) bins.delete(old);
  }
  if (direction === 'entry') {
    const { all, turnedAway } = bin.atGate.get(gateId) ?? NOBODY;
    const more = reason === null ? 0 : 1;
    bin.atGate.set(gateId, { all: all + 1, turnedAway: turnedAway + more });
  }
  if (reason !== null) bin.denied.set(reason, (bin.denied.get(reason) ?? 0) + 1);
  else if (direction === 'entry') bin.entries += 1;
  else bin.exits += 1;
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

function secondOf(ms: number): number {
  return Math.floor(ms / SECOND_MS);
}
