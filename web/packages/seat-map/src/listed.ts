import type { SeatPlan } from './plan.ts';
import { AVAILABLE, BY_STAFF, FOR_COMPANION, type SeatCode, type SeatStates } from './states.ts';

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

/** What is free for whoever looks. A seat kept for a companion goes with its neighbour. */
const FREE: readonly SeatCode[] = [AVAILABLE, FOR_COMPANION];
const FREE_FOR_STAFF: readonly SeatCode[] = [...FREE, BY_STAFF];

const freeCodes = (staff: boolean) => (staff ? FREE_FOR_STAFF : FREE);

/** Whether somebody can ask for this seat. */
export function canChoose(states: SeatStates, position: number, staff: boolean): boolean {
  return freeCodes(staff).includes(states.codeAt(position));
}

/** In the whole house: as many as its zones and rows have together. */
export function freeOfAll({ counts }: SeatStates, staff: boolean): number {
  return freeCodes(staff).reduce<number>((sum, code) => sum + counts[code]!, 0);
}

export function freeIn(states: SeatStates, positions: readonly number[], staff: boolean): number {
  return positions.filter((position) => canChoose(states, position, staff)).length;
}
