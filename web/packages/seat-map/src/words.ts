import type { AccessMode, Category } from './plan.ts';
import type { SeatCode } from './states.ts';

/** What the map and the list say, in the language of the app. */
export interface MapWords {
  map: string;
  zoomIn: string;
  zoomOut: string;
  whole: string;
  keys: string;
  stage: string;
  list: string;
  row: (name: string) => string;
  seat: (number: string) => string;
  /** What chooses all seats of a row, where that can be done. */
  wholeRow?: (name: string) => string;
  free: (count: number) => string;
  chosen: string;
  own: string;
  /** What stands at a zone that is not open to everybody, where that is said. */
  doors?: Record<Exclude<AccessMode, 'public'>, string>;
  states: Record<SeatCode, string>;
  categories: Record<Category, string>;
}

/** What seats of a zone cost, and in which colour they are shown. */
export interface ZonePrice {
  colour: number;
  /** As people read it: `R320` or `from R180`. */
  label: string;
}
