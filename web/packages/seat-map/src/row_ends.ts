import type { Point, Seats } from './plan.ts';

/** Nearer than this the ends of a row are beside each other. */
const ROUND_PITCHES = 1.8;

/** Where the name of a row stands beside this seat, if it is the first or the last of its row. */
export function rowEnds(seats: Seats, position: number, pitch: number): Point[] {
  const [before, after] = [position - 1, position + 1];
  const [hasBefore, hasAfter] = [
    isSameRow(seats, position, before),
    isSameRow(seats, position, after),
  ];
  const ends: Point[] = [];
  if (!hasBefore) ends.push(beyond(seats, position, hasAfter ? after : undefined, pitch, -1));
  if (!hasAfter && !isRound(seats, position, pitch))
    ends.push(beyond(seats, position, hasBefore ? before : undefined, pitch, 1));
  return ends;
}

/** Around a table the last seat is beside the first, which has the name already. */
function isRound(seats: Seats, last: number, pitch: number): boolean {
  let first = last;
  while (isSameRow(seats, last, first - 1)) first -= 1;
  const apart = Math.hypot(seats.x[last]! - seats.x[first]!, seats.y[last]! - seats.y[first]!);
  return last - first > 1 && apart < ROUND_PITCHES * pitch;
}

function isSameRow({ rows, zone }: Seats, one: number, other: number): boolean {
  return rows[one] === rows[other] && zone[one] === zone[other];
}

/** One step away from the neighbour; without one, to the side. */
function beyond(
  { x, y }: Seats,
  position: number,
  neighbour: number | undefined,
  pitch: number,
  side: number,
): Point {
  const [fromX, fromY] = [x[position]!, y[position]!];
  if (neighbour === undefined) return { x: fromX + side * pitch, y: fromY };
  const [dx, dy] = [fromX - x[neighbour]!, fromY - y[neighbour]!];
  const distance = Math.hypot(dx, dy) || 1;
  return { x: fromX + (dx / distance) * pitch, y: fromY + (dy / distance) * pitch };
}
