/**
 * A ticket's scan history: its scans judged in their canonical order, whenever they became known.
 *
 * The scans that let somebody through count. A person who was let in wrongly does not count as an entry,
 * but is inside: an irregular entry, or a person at another event than the ticket's own, where the history
 * is not about who is inside. A denied scan never counts, whatever the rule would have decided, because
 * nobody came in.
 *
 * The judgement is a fold: a state, then one scan after the other. It follows from the set of scans and
 * from nothing else, so it does not matter in which order they became known.
 */

import {
  BLANK,
  comeIn,
  comeInIrregularly,
  historyOf,
  leave,
  type Attendance,
} from './attendance.ts';
import { foremost, judgeHistory } from './decision.ts';
import { REASONS_OF_HISTORY } from './model.ts';
import type { EventFacts, GateFacts, Outcome, Reason, TicketFacts } from './model.ts';
import { reasonOf } from './outcomes.ts';
import { inOrder } from './replay.ts';
import type {
  Clash,
  HistoryScan,
  HistoryState,
  JudgedHistory,
  JudgedScan,
  Resolution,
} from './scan_history_model.ts';

/** What is against a scan because of its gate is found by the stateless checks. */
const ANY_GATE: GateFacts = {
  id: '',
  status: 'open',
  allowed_zones: null,
  hard_capacity_limit: null,
  inside: 0,
};
/** The state before the first scan. */
const BEGINNING: HistoryState = {
  attendance: BLANK,
  everybody: BLANK,
  last_entry: null,
  last_let_in: null,
  unmatched: [],
  is_elsewhere: false,
};

/** The facts by which the scans of a history are judged, besides each other. */
interface Setting {
  event: EventFacts;
  ticket: TicketFacts;
}

interface Step {
  judged: JudgedScan;
  /** Earlier irregular entries that the scan contradicts. */
  matched: readonly HistoryScan[];
  /** After the scan. */
  state: HistoryState;
}

/** The scans in their order, each judged after those before it. Those that are frozen keep their
 * resolution. */
export function reconcile(
  event: EventFacts,
  ticket: TicketFacts,
  scans: readonly HistoryScan[],
  frozen: ReadonlySet<string> = new Set(),
): JudgedHistory {
  const setting = { event, ticket };
  const judged = new Map<string, JudgedScan>();
  const resets = (event.resets ?? []).toSorted((one, other) => one - other);
  let state = BEGINNING;
  for (const scan of inOrder(scans)) {
    while (resets[0] !== undefined && resets[0] < scan.scanned_at_canonical) {
      state = everybodyLeft(state);
      resets.shift();
    }
    const step = stepOf(setting, state, scan, frozen.has(scan.id));
    for (const { id } of step.matched) judged.set(id, { ...judged.get(id)!, winner: scan });
    judged.set(scan.id, step.judged);
    state = step.state;
  }
  const scansInOrder = [...judged.values()];
  return { scans: scansInOrder, state: resets.length > 0 ? everybodyLeft(state) : state };
}

/** Somebody declared the venue empty. */
function everybodyLeft(state: HistoryState): HistoryState {
  return {
    ...state,
    attendance: { ...state.attendance, is_inside: false, irregular: [] },
    everybody: { ...state.everybody, is_inside: false },
  };
}

function stepOf(setting: Setting, state: HistoryState, scan: HistoryScan, isFrozen: boolean): Step {
  const against = judgedByHistory(setting, state.attendance, scan);
  const stood = isFrozen ? scan.resolution : null;
  const resolution = stood ?? judge(state.attendance, scan, against);
  if (resolution.status === 'admitted') return admittedStep(setting, state, scan, resolution);
  const isEntry = scan.direction === 'entry';
  const isRepeated =
    against !== null || (resolution.reason !== null && REASONS_OF_HISTORY.has(resolution.reason));
  let winner = isEntry && isRepeated ? state.last_entry : null;
  if (!isEntry || !scan.is_let_in) {
    return { judged: { scan, resolution, winner }, matched: [], state };
  }
  if (isSomebodyElse(setting, state, scan)) winner ??= state.last_let_in;
  return {
    judged: { scan, resolution, winner },
    matched: [],
    state: irregular(setting, state, scan, winner),
  };
}

function admittedStep(
  setting: Setting,
  state: HistoryState,
  scan: HistoryScan,
  resolution: Resolution,
): Step {
  const isSecond =
    scan.direction === 'entry' &&
    state.unmatched.length > 0 &&
    judgedByHistory(setting, state.everybody, scan) !== null;
  return {
    judged: { scan, resolution, winner: null },
    matched: isSecond ? state.unmatched : [],
    state: admitted(state, scan, isSecond),
  };
}

/** Whether an irregular entry is by another person than the one before: somebody is inside with the
 * ticket, or could not have come again so soon. At another event nobody is seen leaving. */
function isSomebodyElse(setting: Setting, state: HistoryState, scan: HistoryScan): boolean {
  const { attendance, everybody } = state;
  if (attendance.is_inside || attendance.irregular.length > 0 || state.is_elsewhere) return true;
  return judgedByHistory(setting, everybody, scan) !== null;
}

function judgedByHistory(
  { event, ticket }: Setting,
  attendance: Attendance,
  scan: HistoryScan,
): Reason | null {
  const attempt = { at: scan.scanned_at_canonical, direction: scan.direction, issue: null };
  const history = historyOf(attendance);
  return judgeHistory({ attempt, event, gate: ANY_GATE, ticket, history }, ticket);
}

function judge(attendance: Attendance, scan: HistoryScan, against: Reason | null): Resolution {
  const entryNumber = scan.direction === 'entry' ? attendance.scan_count + 1 : null;
  const asAdmitted: Resolution = { status: 'admitted', reason: null, entry_number: entryNumber };
  if (scan.source === 'supervisor') return asAdmitted;
  const reason = scan.is_let_in
    ? foremost(scan.stateless_reason, against)
    : // What the device said of it stays, whatever becomes known of other scans.
      (scan.stateless_reason ?? whyTurnedAway(scan.outcome));
  return reason === null ? asAdmitted : { status: 'denied', reason, entry_number: null };
}

function whyTurnedAway(outcome: Outcome | null): Reason {
  return reasonOf(outcome === null || outcome === 'valid' ? 'invalid' : outcome);
}

/** Whoever came in irregularly before and is in no conflict has left unseen, and comes again. */
function admitted(state: HistoryState, scan: HistoryScan, isSecond: boolean): HistoryState {
  const attendance = after(state.attendance, scan);
  const everybody = after(state.everybody, scan);
  if (scan.direction === 'exit') return { ...state, attendance, everybody };
  const left = new Set(isSecond ? [] : state.unmatched.map(({ id }) => id));
  const counted = {
    ...attendance,
    irregular: attendance.irregular.filter((id) => !left.has(id)),
  };
  return {
    ...state,
    attendance: counted,
    everybody: isSecond ? counted : everybody,
    last_entry: scan,
    last_let_in: scan,
    unmatched: [],
  };
}

function irregular(
  { event }: Setting,
  state: HistoryState,
  scan: HistoryScan,
  winner: HistoryScan | null,
): HistoryState {
  const isElsewhere = scan.event_id !== event.id;
  return {
    ...state,
    attendance: isElsewhere ? state.attendance : comeInIrregularly(state.attendance, scan.id),
    is_elsewhere: state.is_elsewhere || isElsewhere,
    everybody: after(state.everybody, scan),
    last_let_in: scan,
    unmatched: winner === null ? [...state.unmatched, scan] : state.unmatched,
  };
}

function after(attendance: Attendance, scan: HistoryScan): Attendance {
  if (scan.direction === 'exit') return leave(attendance, scan.scanned_at_canonical);
  return comeIn(attendance, scan.scanned_at_canonical, scan.day);
}

/** The scans before the first of those that changed, for which it does not matter. */
export function frozenPrefix(
  scans: readonly HistoryScan[],
  changed: ReadonlySet<string>,
): Set<string> {
  const ordered = inOrder(scans);
  const first = ordered.findIndex(({ id }) => changed.has(id));
  return new Set(ordered.slice(0, first < 0 ? undefined : first).map(({ id }) => id));
}

/** Of one ticket's scans, each that let in one person too many, with the one that wins. Where somebody
 * was turned away there is no conflict: a device and the server then say the same. */
export function clashesOf(judged: readonly JudgedScan[]): Clash[] {
  return judged.flatMap(({ scan, winner }) => {
    if (winner === null || !scan.is_let_in) return [];
    return [
      {
        event_id: scan.event_id,
        ticket_id: scan.ticket_id,
        scan_id: scan.id,
        winner_scan_id: winner.id,
        kind: 'double_entry',
        severity: 'critical',
      },
    ];
  });
}
