/**
 * A ticket's scans judged in their canonical order, so that it does not matter when they became known.
 *
 * What counts is who was let through at the gate. Whoever was, and should not have been, does not count
 * as an entry and is a conflict; whoever was turned away never counts, whatever the rule would have
 * said: nobody came in.
 */

import { BLANK, comeIn, historyOf, leave, type Attendance } from './attendance.ts';
import { foremost, judgeHistory } from './decision.ts';
import { REASONS_OF_HISTORY } from './model.ts';
import type { EventFacts, GateFacts, Reason, TicketFacts } from './model.ts';
import { reasonOf } from './outcomes.ts';
import { inOrder } from './replay.ts';
import type { Clash, JudgedScan, Resolution, HistoryScan } from './scan_history_model.ts';

/** What a gate has to say is said of each scan apart. */
const ANY_GATE: GateFacts = {
  id: '',
  status: 'open',
  allowed_zones: null,
  hard_capacity_limit: null,
  inside: 0,
};

/** In their order. Those that are frozen stay as they stand. */
export function tell(
  event: EventFacts,
  ticket: TicketFacts,
  scans: readonly HistoryScan[],
  frozen: ReadonlySet<string>,
): JudgedScan[] {
  let attendance = BLANK;
  let last: HistoryScan | null = null;
  const told: JudgedScan[] = [];
  const strangers = new Strangers(event, ticket);
  for (const scan of inOrder(scans)) {
    const against = judgedByHistory(event, ticket, attendance, scan);
    const stood = frozen.has(scan.id) ? scan.resolution : null;
    const resolution = stood ?? judge(attendance, scan, against);
    const isRepeated =
      against !== null || (resolution.reason !== null && REASONS_OF_HISTORY.has(resolution.reason));
    const isEntry = scan.direction === 'entry';
    const isAdmitted = resolution.status === 'admitted';
    const winner: HistoryScan | null = isEntry && isRepeated && !isAdmitted ? last : null;
    told.push({ scan, resolution, winner });
    if (isAdmitted) {
      strangers.meet(scan, told);
      attendance = after(attendance, scan);
      last = isEntry ? scan : last;
    } else if (isEntry && scan.is_let_in && winner === null) {
      strangers.add(attendance, scan, told.length - 1);
    }
  }
  return told;
}

/**
 * Who came in with a ticket though something was against that scan alone: it was void, or not for
 * there. They count for nothing, but they are inside: who comes in with it after them, and would not
 * have if they counted, is the second person.
 */
class Strangers {
  /** Among what was told. */
  private places: number[] = [];
  /** If they counted. */
  private attendance: Attendance | null = null;

  constructor(
    private readonly event: EventFacts,
    private readonly ticket: TicketFacts,
  ) {}

  add(attendance: Attendance, scan: HistoryScan, place: number): void {
    this.attendance = after(this.attendance ?? attendance, scan);
    this.places.push(place);
  }

  meet(scan: HistoryScan, told: JudgedScan[]): void {
    if (this.attendance === null) return;
    const against = judgedByHistory(this.event, this.ticket, this.attendance, scan);
    if (scan.direction === 'exit' || against === null) {
      this.attendance = after(this.attendance, scan);
      return;
    }
    for (const place of this.places) {
      const stranger = told[place];
      if (stranger) told[place] = { ...stranger, winner: scan };
    }
    this.places = [];
    this.attendance = null;
  }
}

/** Those before the first of these, to which they do not matter. */
export function frozenPrefix(
  scans: readonly HistoryScan[],
  unsettled: ReadonlySet<string>,
): Set<string> {
  const ordered = inOrder(scans);
  const first = ordered.findIndex(({ id }) => unsettled.has(id));
  return new Set(ordered.slice(0, first < 0 ? undefined : first).map(({ id }) => id));
}

/** Critical where two were let in with one ticket, low where a device alone turned the second away.
 * Whom the server turned away itself was answered right. */
export function clashesOf(told: readonly JudgedScan[]): Clash[] {
  return told.flatMap(({ scan, winner }) => {
    if (winner === null || (!scan.is_let_in && scan.source === 'online')) return [];
    return [
      {
        event_id: scan.event_id,
        ticket_id: scan.ticket_id,
        scan_id: scan.id,
        winner_scan_id: winner.id,
        kind: scan.is_let_in ? 'double_entry' : 'duplicate_scan',
        severity: scan.is_let_in ? 'critical' : 'low',
      },
    ];
  });
}

function judgedByHistory(
  event: EventFacts,
  ticket: TicketFacts,
  attendance: Attendance,
  scan: HistoryScan,
): Reason | null {
  const attempt = { at: scan.scanned_at_canonical, direction: scan.direction, issue: null };
  const history = historyOf(attendance);
  return judgeHistory({ attempt, event, gate: ANY_GATE, ticket, history }, ticket);
}

function judge(attendance: Attendance, scan: HistoryScan, against: Reason | null): Resolution {
  const entryNumber = scan.direction === 'entry' ? attendance.scan_count + 1 : null;
  const admitted: Resolution = { status: 'admitted', reason: null, entry_number: entryNumber };
  if (scan.source === 'supervisor') return admitted;
  // Whom the server let in, and a device that did not hear it turned away: only that device knows why.
  const isUnheard = scan.source === 'online' && !scan.is_let_in;
  const found = isUnheard ? scan.stateless_reason : foremost(scan.stateless_reason, against);
  const reason = found ?? whyTurnedAway(scan);
  return reason === null ? admitted : { status: 'denied', reason, entry_number: null };
}

function whyTurnedAway({ is_let_in, outcome }: HistoryScan): Reason | null {
  if (is_let_in) return null;
  return reasonOf(outcome === null || outcome === 'valid' ? 'invalid' : outcome);
}

function after(attendance: Attendance, scan: HistoryScan): Attendance {
  if (scan.direction === 'exit') return leave(attendance, scan.scanned_at_canonical);
  return comeIn(attendance, scan.scanned_at_canonical, scan.day);
}
