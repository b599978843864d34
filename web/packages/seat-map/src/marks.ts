import type { Box, Point } from './plan.ts';
import type { MapView } from './view.ts';

export type MarkLook = 'fault' | 'added' | 'removed' | 'moved' | 'changed';

/** Something to look at on the map; a list beside it says what it is. */
export interface MapMark {
  key: string;
  /** What stands on it, and in the list: `3`, `+`. */
  sign: string;
  /** What it is called by who does not see it. */
  name: string;
  look: MarkLook;
  /** Where it is, in the plan; a seat has no width. */
  box: Box;
  /** Where it was before. */
  from?: Point;
}

/** A mark on the screen, in pixels, with how many others it hides. */
export interface Pin {
  mark: MapMark;
  x: number;
  y: number;
  hidden: number;
}

const PINS_MAX = 120;
/** Two pins nearer than this would cover each other. */
const CELL_PIXELS = 30;

/** Those of the marks that are seen and do not cover each other; the chosen one always. */
export function pinsOf(marks: readonly MapMark[], view: MapView, chosen?: string): Pin[] {
  const pins = new Map<string, Pin>();
  const first = marks.find(({ key }) => key === chosen);
  for (const mark of first ? [first, ...marks] : marks) {
    const { x, y } = view.toScreen(mark.box.x + mark.box.width / 2, mark.box.y);
    if (x < 0 || y < 0 || x > view.width || y > view.height) continue;
    const cell = `${Math.floor(x / CELL_PIXELS)} ${Math.floor(y / CELL_PIXELS)}`;
    const there = pins.get(cell);
    if (there) there.hidden += there.mark === mark ? 0 : 1;
    else if (pins.size < PINS_MAX) pins.set(cell, { mark, x, y, hidden: 0 });
  }
  return [...pins.values()];
}

/** A little more than what is marked, so that one sees where it is. */
export function around({ x, y, width, height }: Box, margin: number): Box {
  return { x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin };
}
