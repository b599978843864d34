/**
 * Whether somebody is let through.
 *
 * The only place where a device decides this; its twin on the server is tested by the same cases
 * (contracts/scan_decisions.json). Everything it needs is given to it.
 */

import { REASONS, REASONS_OF_HISTORY } from './model.ts';
import type { Case, EventDay, History, Reason, TicketFacts, Verdict } from './model.ts';
import type { Moment } from './moments.ts';

const MICROSECONDS_PER_SECOND = 1_000_000;
/** Whoever must leave first has not left. */
const AFTER_ENTRIES = new Set<Reason>(REASONS_OF_HISTORY);
AFTER_ENTRIES.delete('exit_required');

export function decide(situation: Case): Verdict {
  const { attempt, event, history, ticket } = situation;
  if (ticket === null) return denied('ticket_not_found');
  if (attempt.direction === 'exit') return leave(situation, ticket);
  const reason = first(ENTRY, situation, ticket);
  if (reason !== null) return denied(reason, ofThePast(situation, ticket, reason));
  const admitted = { ...ADMITTED, entry_number: history.entries + 1 };
  return { ...admitted, day: dayOf(event.days, attempt.at) };
}

/** What is against it because of what was scanned before, and of that alone. */
export function judgeHistory(situation: Case, ticket: TicketFacts): Reason | null {
  if (situation.attempt.direction === 'exit') {
    return isNobodyInside(situation.history) ? 'not_inside' : null;
  }
  return first(OF_HISTORY, situation, ticket);
}

/** The first of the reasons against it. */
export function foremost(...reasons: Array<Reason | null>): Reason | null {
  return REASONS.find((reason) => reasons.includes(reason)) ?? null;
}

/** For which of the event's days somebody comes. Gates open before a day begins: what lies between
 * two days belongs to the later one, what lies after the last to that. */
export function dayOf(days: readonly EventDay[], at: Moment): string | null {
  return (days.find((day) => at < day.ends_at) ?? days.at(-1))?.date ?? null;
}

const ADMITTED: Verdict = {
  status: 'admitted',
  reason: null,
  entry_number: null,
  day: null,
  seconds_since_last_scan: null,
  left_at: null,
  may_return_at: null,
};

type Past = Pick<Verdict, 'seconds_since_last_scan' | 'left_at' | 'may_return_at'>;

function denied(reason: Reason, past?: Past): Verdict {
  return { ...ADMITTED, status: 'denied', reason, ...past };
}

/** What a denial says of the ticket's earlier entries. */
function ofThePast(situation: Case, ticket: TicketFacts, reason: Reason): Past {
  const { left_at } = situation.history;
  const hasLeft = AFTER_ENTRIES.has(reason) && left_at !== null;
  return {
    seconds_since_last_scan: reason === 'already_scanned' ? secondsSince(situation) : null,
    left_at: hasLeft ? left_at : null,
    may_return_at: hasLeft ? mayReturnAt(situation, ticket) : null,
  };
}

/** When the duplicate window has passed, and not before the ticket has an entry left. */
function mayReturnAt(situation: Case, ticket: TicketFacts): Moment | null {
  const { event, history } = situation;
  const limit = mayNotComeAgain(situation, ticket) ?? cameTooOften(situation, ticket);
  if (history.last_scanned_at === null) return null;
  let at = history.last_scanned_at + event.dedup_window_s * MICROSECONDS_PER_SECOND;
  if (limit === 'daily_limit_reached') {
    const day = nextDay(situation, ticket);
    if (day === undefined) return null;
    at = Math.max(at, day.starts_at);
  } else if (limit !== null) {
    return null;
  }
  return at <= event.ends_at ? at : null;
}

/** The next of the event's days on which the ticket is valid. */
function nextDay({ attempt, event }: Case, ticket: TicketFacts): EventDay | undefined {
  const today = dayOf(event.days, attempt.at);
  return event.days.find(
    ({ date }) =>
      today !== null && date > today && (ticket.days.length === 0 || ticket.days.includes(date)),
  );
}

/** Whoever is inside may go, whatever has become of their ticket or of the gate. */
function leave(situation: Case, ticket: TicketFacts): Verdict {
  if (ticket.event_id !== situation.event.id) return denied('wrong_event');
  return isNobodyInside(situation.history) ? denied('not_inside') : ADMITTED;
}

function isNobodyInside(history: History): boolean {
  return history.inside_day === null && !history.irregular;
}

type Refuse = (situation: Case, ticket: TicketFacts) => Reason | null;

function first(rules: readonly Refuse[], situation: Case, ticket: TicketFacts): Reason | null {
  for (const refuse of rules) {
    const reason = refuse(situation, ticket);
    if (reason !== null) return reason;
  }
  return null;
}

const wrongEvent: Refuse = ({ event }, ticket) =>
  ticket.event_id === event.id ? null : 'wrong_event';

/** A barcode of an earlier issue: somebody else has the ticket now, or it was lost. */
const revoked: Refuse = ({ attempt }, ticket) =>
  attempt.issue === null || attempt.issue === ticket.issue ? null : 'barcode_revoked';

const notValid: Refuse = (_, { status }) => {
  if (status === 'used') return 'ticket_already_used';
  if (status === 'voided') return 'ticket_voided';
  return status === 'refunded' ? 'ticket_refunded' : null;
};

const scannedJustNow: Refuse = (situation) => {
  const since = secondsSince(situation);
  return since !== null && since < situation.event.dedup_window_s ? 'already_scanned' : null;
};

/** Whole ones. Measured between the moments of the two scans, whenever they became known. */
function secondsSince({ attempt, history }: Case): number | null {
  const last = history.last_scanned_at;
  return last === null ? null : Math.floor(Math.abs(attempt.at - last) / MICROSECONDS_PER_SECOND);
}

const eventIsOff: Refuse = ({ attempt, event }) => {
  if (event.status !== 'live') return 'event_not_live';
  return attempt.at > event.ends_at ? 'event_ended' : null;
};

const gateIsClosed: Refuse = ({ gate }) => (gate.status === 'open' ? null : 'gate_closed');

const wrongGate: Refuse = ({ gate }, ticket) => {
  if (ticket.gate_ids !== null && !ticket.gate_ids.includes(gate.id)) return 'wrong_gate';
  const { allowed_zones: zones } = gate;
  if (zones === null) return null;
  return ticket.zone_id !== null && zones.includes(ticket.zone_id) ? null : 'wrong_gate';
};

const wrongDay: Refuse = ({ attempt, event }, ticket) => {
  if (ticket.days.length === 0) return null;
  const today = dayOf(event.days, attempt.at);
  return today !== null && ticket.days.includes(today) ? null : 'not_valid_today';
};

const membershipEnded: Refuse = (_, ticket) =>
  ticket.is_membership_active === false ? 'membership_not_active' : null;

const mayNotComeAgain: Refuse = ({ attempt, event, history }, ticket) => {
  if (history.entries === 0 || ticket.reentry === 'allowed') return null;
  if (ticket.reentry === 'never') return 'reentry_not_allowed';
  // Who was not seen leaving last night has left all the same.
  return history.inside_day === dayOf(event.days, attempt.at) ? 'exit_required' : null;
};

const cameTooOften: Refuse = ({ attempt, event, history }, ticket) => {
  if (ticket.entry_limit !== null && history.entries >= ticket.entry_limit) {
    return 'entry_limit_reached';
  }
  const today = dayOf(event.days, attempt.at);
  const entriesToday = today === null ? history.entries : (history.entries_by_day[today] ?? 0);
  const most = ticket.max_daily_entries;
  return most !== null && entriesToday >= most ? 'daily_limit_reached' : null;
};

/** Who counts as inside by this gate adds nobody there by coming again. */
const gateIsFull: Refuse = ({ gate, history }) =>
  gate.hard_capacity_limit !== null &&
  gate.inside >= gate.hard_capacity_limit &&
  history.inside_gate_id !== gate.id
    ? 'gate_at_capacity'
    : null;

/** The reasons of the ticket come before those of the place: a denied person should hear first what
 * will not change by waiting. */
const ENTRY: readonly Refuse[] = [
  wrongEvent,
  revoked,
  notValid,
  scannedJustNow,
  eventIsOff,
  gateIsClosed,
  wrongGate,
  wrongDay,
  membershipEnded,
  mayNotComeAgain,
  cameTooOften,
  gateIsFull,
];
const OF_HISTORY: readonly Refuse[] = [scannedJustNow, mayNotComeAgain, cameTooOften];
