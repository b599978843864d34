import type { SeatPlan } from './plan.ts';
import { AVAILABLE, BY_STAFF, FOR_COMPANION, type SeatStates } from './states.ts';

export interface ListedRow {
  name: string;
  positions: number[];
}

/** The rows of a zone, each with its seats, in the order of the layout. */
export function rowsOf(plan: SeatPlan, zoneIndex: number): ListedRow[] {
  const { first, count } = plan.zones[zoneIndex]!;
  const rows = new Map<string, number[]>();
  for (let position = first; position < first + count; position++) {
    const name = plan.seats.rows[position]!;
    const row = rows.get(name);
    if (row) row.push(position);
    else rows.set(name, [position]);
  }
  return [...rows].map(([name, positions]) => ({ name, positions }));
}

/** The seats of the row that a seat is in. */
export function rowOf(plan: SeatPlan, position: number): number[] {
  const zone = plan.seats.zone[position]!;
  const name = plan.seats.rows[position];
  const { first, count } = plan.zones[zone]!;
  return Array.from({ length: count }, (_, at) => first + at).filter(
    (each) => plan.seats.rows[each] === name,
  );
}

/** Whether somebody can ask for this seat. A seat kept for a companion goes with its neighbour. */
export function canChoose(states: SeatStates, position: number, staff: boolean): boolean {
  const code = states.codeAt(position);
  return code === AVAILABLE || code === FOR_COMPANION || (staff && code === BY_STAFF);
}

export function freeIn(states: SeatStates, positions: readonly number[], staff: boolean): number {
  return positions.filter((position) => canChoose(states, position, staff)).length;
}
