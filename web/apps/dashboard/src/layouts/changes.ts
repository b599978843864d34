import type { LayoutDiff } from '@voelgoed/api';
import type { Box, MapMark, MarkLook, Point, SeatPlan } from '@voelgoed/seat-map';

export type ChangeLook = Exclude<MarkLook, 'fault'>;

/** One seat that is not what it was. */
export interface SeatChange {
  seatId: string;
  look: ChangeLook;
  /** What is different about it, besides where it is. */
  what: ('category' | 'label' | 'zone' | 'companion')[];
  before: string;
  after: string;
  /** Where it is, or was. */
  at: Point;
  from?: Point;
}

export const SIGNS: Record<ChangeLook, string> = {
  added: '+',
  removed: '×',
  moved: '→',
  changed: '≠',
};

/** Every seat that is different, once, whatever is different about it. */
export function seatChanges(diff: LayoutDiff, before: SeatPlan, after: SeatPlan): SeatChange[] {
  const now = placesOf(after);
  const then = placesOf(before);
  const changes = new Map<string, SeatChange>();
  const change = (seatId: string, look: ChangeLook): SeatChange => {
    const at = now.get(seatId) ?? then.get(seatId) ?? { x: 0, y: 0 };
    const there = changes.get(seatId) ?? { seatId, look, what: [], before: '', after: '', at };
    changes.set(seatId, there);
    return there;
  };
  for (const seatId of diff.added) change(seatId, 'added');
  for (const seatId of diff.removed) change(seatId, 'removed');
  for (const { seat_id: seatId, before: from } of diff.moved) change(seatId, 'moved').from = from;
  for (const { seat_id: seatId, ...values } of diff.recategorised) {
    Object.assign(change(seatId, 'changed'), values).what.push('category');
  }
  for (const { seat_id: seatId, ...values } of diff.relabelled) {
    Object.assign(change(seatId, 'changed'), values).what.push('label');
  }
  for (const { seat_id: seatId } of diff.rezoned) change(seatId, 'changed').what.push('zone');
  for (const seatId of diff.companions_changed) change(seatId, 'changed').what.push('companion');
  return [...changes.values()];
}

export function marksOf(
  changes: readonly SeatChange[],
  nameOf: (change: SeatChange) => string,
): MapMark[] {
  return changes.map((change) => ({
    key: change.seatId,
    sign: SIGNS[change.look],
    name: nameOf(change),
    look: change.look,
    box: { ...change.at, width: 0, height: 0 },
    ...(change.from && { from: change.from }),
  }));
}

/** The later plan, on paper large enough for what is no longer there. */
export function onOnePaper(after: SeatPlan, before: SeatPlan): SeatPlan {
  return { ...after, bounds: around(after.bounds, before.bounds) };
}

function around(one: Box, other: Box): Box {
  const [x, y] = [Math.min(one.x, other.x), Math.min(one.y, other.y)];
  const right = Math.max(one.x + one.width, other.x + other.width);
  const bottom = Math.max(one.y + one.height, other.y + other.height);
  return { x, y, width: right - x, height: bottom - y };
}

function placesOf({ seats }: SeatPlan): Map<string, Point> {
  return new Map(seats.ids.map((id, at) => [id, { x: seats.x[at]!, y: seats.y[at]! }]));
}
