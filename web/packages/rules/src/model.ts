/** What a decision is made from and what it says. Fields are named as the contracts name them. */

import type { Moment } from './moments.ts';

export type Direction = 'entry' | 'exit';
export type ScanStatus = 'admitted' | 'denied';
export const EVENT_STATUSES = [
  'draft',
  'published',
  'live',
  'ended',
  'archived',
  'cancelled',
] as const;
export type EventStatus = (typeof EVENT_STATUSES)[number];
export const GATE_STATUSES = ['open', 'closed'] as const;
export type GateStatus = (typeof GATE_STATUSES)[number];
export const TICKET_STATUSES = ['active', 'scanned', 'used', 'voided', 'refunded'] as const;
export type TicketStatus = (typeof TICKET_STATUSES)[number];
export const REENTRIES = ['allowed', 'after_exit', 'never'] as const;
export type Reentry = (typeof REENTRIES)[number];

/** Why somebody is not let through, in the order in which it is asked. */
export const REASONS = [
  'ticket_not_found',
  'wrong_event',
  'barcode_revoked',
  'ticket_already_used',
  'ticket_voided',
  'ticket_refunded',
  'already_scanned',
  'event_not_live',
  'event_ended',
  'gate_closed',
  'wrong_gate',
  'not_valid_today',
  'membership_not_active',
  'reentry_not_allowed',
  'exit_required',
  'entry_limit_reached',
  'daily_limit_reached',
  'gate_at_capacity',
  'not_inside',
  'unverified',
] as const;
export type Reason = (typeof REASONS)[number];
/** Because of what was scanned before, and of that alone. */
export const REASONS_OF_HISTORY: ReadonlySet<Reason> = new Set<Reason>([
  'already_scanned',
  'reentry_not_allowed',
  'exit_required',
  'entry_limit_reached',
  'daily_limit_reached',
]);

/** What a device says of a scan. `valid`: somebody was let through. Anything else: nobody was. */
export type Outcome = 'valid' | 'duplicate' | 'invalid' | 'gate_access_denied' | 'expired';
export type Colour = 'green' | 'red';

/** Somebody holds something before a scanner. */
export interface Attempt {
  /** The moment by the server's clock, whichever clock it was read from. */
  at: Moment;
  direction: Direction;
  /** Which of a ticket's barcodes it was; null where the code was typed. */
  issue: number | null;
}

/** Named by the date it began on, at the venue. */
export interface EventDay {
  date: string;
  starts_at: Moment;
  ends_at: Moment;
}

export interface EventFacts {
  id: string;
  status: EventStatus;
  ends_at: Moment;
  days: readonly EventDay[];
  dedup_window_s: number;
  /** Moments at which somebody declared the venue empty; absent where nobody did. */
  resets?: readonly Moment[];
}

export interface GateFacts {
  id: string;
  status: GateStatus;
  /** Null: every zone. */
  allowed_zones: readonly string[] | null;
  hard_capacity_limit: number | null;
  /** Who came in here today and has not left. */
  inside: number;
}

/** A ticket with what its type allows. */
export interface TicketFacts {
  id: string;
  event_id: string;
  status: TicketStatus;
  issue: number;
  zone_id: string | null;
  /** Dates of the event's days on which it is valid; none: all of them. */
  days: readonly string[];
  entry_limit: number | null;
  max_daily_entries: number | null;
  /** Null: every gate that its zone is let in at. */
  gate_ids: readonly string[] | null;
  reentry: Reentry;
  /** Null where it takes no membership. */
  is_membership_active: boolean | null;
}

/** What was admitted with a ticket before. */
export interface History {
  entries: number;
  entries_by_day: Readonly<Record<string, number>>;
  /** Of its last entry. */
  last_scanned_at: Moment | null;
  /** The event's day on which they came in, if nobody saw them leave since. */
  inside_day: string | null;
  /** The gate by which they came in, if nobody saw them leave since; absent where it is not known. */
  inside_gate_id?: string | null;
  /** How many people are inside besides, who had no right to come in; absent where none are. */
  irregular?: number;
  /** When they left after their last entry; null while they are inside, or nobody saw them leave. */
  left_at: Moment | null;
}

/** Everything that a decision is made from. */
export interface Case {
  attempt: Attempt;
  event: EventFacts;
  gate: GateFacts;
  /** Null: there is none by this code. */
  ticket: TicketFacts | null;
  history: History;
}

export interface Verdict {
  status: ScanStatus;
  reason: Reason | null;
  /** How manyeth entry with this ticket, if it is one. */
  entry_number: number | null;
  /** The event's day that an entry counts for. */
  day: string | null;
  /** Of a ticket that was scanned already. */
  seconds_since_last_scan: number | null;
  /** When the person left, if the ticket is denied because of its earlier entries. */
  left_at: Moment | null;
  /** From when a person who left is let in again; null where the ticket has no entry left. */
  may_return_at: Moment | null;
}

/** Why a device cannot say anything: its manifest is of an event that is over, or does not know where
 * the device stands. */
export type Undecided = 'manifest_expired' | 'gate_unknown';

/** Somebody whom this device let through. */
export interface OwnScan {
  ticket_id: string;
  /** In the server's time. */
  at: Moment;
  direction: Direction;
  /** Its code, or its id. */
  gate: string;
  /** When, by its clock, the server said that it has this scan; null: not yet. */
  acknowledged_at: Moment | null;
}

/** By ticket, in whatever order. */
export type OwnScans = ReadonlyMap<string, readonly OwnScan[]>;

/** What the person at the gate sees besides the colour. Names, not codes or ids. */
export interface Shown {
  seat: string | null;
  zone: string | null;
  notes: readonly string[];
  last_scanned_at: Moment | null;
  last_gate: string | null;
}

export interface Decision {
  verdict: Verdict;
  outcome: Outcome;
  colour: Colour;
  ticket_id: string | null;
  /** To be sent: of the barcode that was shown, or of the ticket whose code was typed. */
  barcode_hash: string;
  /** A barcode of this event that this event's keys did not sign. */
  is_forged: boolean;
  shown: Shown;
}
