/** A ticket's story: its scans, whenever they became known, and how each of them stands. */

import type { Direction, Outcome, Reason, ScanStatus } from './model.ts';
import type { Moment } from './moments.ts';

export type Source = 'online' | 'supervisor' | 'offline_sync' | 'recovered';
export type ConflictKind = 'double_entry' | 'duplicate_scan';
export type ConflictSeverity = 'critical' | 'low';

/** What a scan is in the light of all that is known. */
export interface Resolution {
  status: ScanStatus;
  reason: Reason | null;
  entry_number: number | null;
}

/** One that let somebody through, or that a device brought later. */
export interface HistoryScan {
  id: string;
  event_id: string;
  gate_id: string;
  zone_id: string | null;
  device_id: string | null;
  direction: Direction;
  scanned_at_canonical: Moment;
  day: string;
  ticket_id: string;
  source: Source;
  /** At the gate, by whoever decided there and then. */
  is_let_in: boolean;
  /** What was against it, whatever else was scanned. */
  stateless_reason: Reason | null;
  outcome: Outcome | null;
  /** Until now; null where it is new. */
  resolution: Resolution | null;
}

export interface JudgedScan {
  scan: HistoryScan;
  resolution: Resolution;
  /** The entry because of which it does not stand. */
  winner: HistoryScan | null;
}

/** Two scans of a ticket that cannot both stand. */
export interface Clash {
  event_id: string;
  ticket_id: string;
  scan_id: string;
  winner_scan_id: string;
  kind: ConflictKind;
  severity: ConflictSeverity;
}
