/** What the server says of a scan. */
import type { Direction, Moment, Outcome, Reason, Shown } from '@voelgoed/rules';
import { outcomeOf, parseMoment, REASONS } from '@voelgoed/rules';
import { among, fits, isMoment, isNumber, isText, listOf, orNothing, shaped } from './shapes.ts';

interface SeatInfo {
  block_name: string;
  row?: string | null;
  seat_number?: string | null;
  notes: string[];
}

interface OnlineAnswer {
  status: 'admitted' | 'denied';
  scan_id: string;
  direction: Direction;
  scanned_at: string;
  reason?: string | null;
  ticket_id?: string | null;
  entry_number?: number | null;
  seat_info?: SeatInfo | null;
  gate?: { gate_id: string } | null;
  last_scanned_at?: string | null;
  last_gate_name?: string | null;
  left_at?: string | null;
  may_return_at?: string | null;
}

const readSeatInfo = shaped<SeatInfo>({
  block_name: isText,
  row: orNothing(isText),
  seat_number: orNothing(isText),
  notes: listOf(isText),
});

export const readOnlineAnswer = shaped<OnlineAnswer>({
  status: among('admitted', 'denied'),
  scan_id: isText,
  direction: among('entry', 'exit'),
  scanned_at: isMoment,
  reason: orNothing(isText),
  ticket_id: orNothing(isText),
  entry_number: orNothing(isNumber),
  seat_info: orNothing(fits(readSeatInfo)),
  gate: orNothing(fits(shaped<{ gate_id: string }>({ gate_id: isText }))),
  last_scanned_at: orNothing(isMoment),
  last_gate_name: orNothing(isText),
  left_at: orNothing(isMoment),
  may_return_at: orNothing(isMoment),
});

export interface Heard {
  scan_id: string;
  /** The moment is the server's. */
  at: Moment;
  outcome: Outcome;
  reason: Reason | null;
  ticket_id: string | null;
  entry_number: number | null;
  left_at: Moment | null;
  may_return_at: Moment | null;
  /** Where the server has the device, which may have been moved. */
  gate_id: string | null;
  shown: Shown;
}

export const NOTHING_SHOWN: Shown = {
  seat: null,
  zone: null,
  notes: [],
  last_scanned_at: null,
  last_gate: null,
};

export function toHeard(answer: OnlineAnswer): Heard {
  const reason = REASONS.find((each) => each === answer.reason) ?? null;
  const seat = answer.seat_info ?? null;
  return {
    scan_id: answer.scan_id,
    at: parseMoment(answer.scanned_at),
    outcome: outcomeHeard(answer.status, reason),
    reason,
    ticket_id: answer.ticket_id ?? null,
    entry_number: answer.entry_number ?? null,
    left_at: momentOf(answer.left_at),
    may_return_at: momentOf(answer.may_return_at),
    gate_id: answer.gate?.gate_id ?? null,
    shown: {
      seat: seat && ([seat.row, seat.seat_number].filter(Boolean).join('-') || null),
      zone: seat?.block_name ?? null,
      notes: seat?.notes ?? [],
      last_scanned_at: momentOf(answer.last_scanned_at),
      last_gate: answer.last_gate_name ?? null,
    },
  };
}

function momentOf(text: string | null | undefined): Moment | null {
  return text === null || text === undefined ? null : parseMoment(text);
}

/** Whoever is denied for a reason that this app does not know yet is denied. */
function outcomeHeard(status: OnlineAnswer['status'], reason: Reason | null): Outcome {
  if (status === 'admitted') return 'valid';
  return reason === null ? 'invalid' : outcomeOf(reason);
}
