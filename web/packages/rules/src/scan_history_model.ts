/** A ticket's scan history: its scans, whenever they became known, and how each of them is resolved. */

import type { Attendance } from './attendance.ts';
import type { Direction, Outcome, Reason, ScanStatus } from './model.ts';
import type { Moment } from './moments.ts';

export type Source = 'online' | 'supervisor' | 'offline_sync' | 'recovered';
export type ConflictKind = 'double_entry';
export type ConflictSeverity = 'critical';

/** What a scan is in the light of all that is known. */
export interface Resolution {
  status: ScanStatus;
  reason: Reason | null;
  entry_number: number | null;
}

/** One scan of a ticket's history. */
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
  /** Whether somebody was let through at the gate, by the device's decision or the server's. */
  is_let_in: boolean;
  /** What is against the scan whatever else was scanned; null where nothing is. */
  stateless_reason: Reason | null;
  /** What the device decided alone; null where it asked. */
  outcome: Outcome | null;
  /** How the scan was resolved until now; null while it is new. */
  resolution: Resolution | null;
}

/** What is known of a ticket after some of its scans, in canonical order. */
export interface HistoryState {
  /** What counts, and who else is inside. */
  attendance: Attendance;
  /** The same, if everybody who was let in counted. */
  everybody: Attendance;
  /** The last entry that counts. */
  last_entry: HistoryScan | null;
  /** The last entry, whether it counts or not. */
  last_let_in: HistoryScan | null;
  /** Irregular entries that are in no conflict. */
  unmatched: readonly HistoryScan[];
  /** Somebody was let in with the ticket at another event than its own. */
  is_elsewhere: boolean;
}

export interface JudgedScan {
  scan: HistoryScan;
  resolution: Resolution;
  /** The entry because of which the scan is not one; null where there is no such entry. */
  winner: HistoryScan | null;
}

export interface JudgedHistory {
  /** In canonical order. */
  scans: JudgedScan[];
  /** After all of them. */
  state: HistoryState;
}

/** Two scans of a ticket that cannot both be right. */
export interface Clash {
  event_id: string;
  ticket_id: string;
  scan_id: string;
  winner_scan_id: string;
  kind: ConflictKind;
  severity: ConflictSeverity;
}
