export { PRICE_COLOURS } from './colours.ts';
export { canChoose, freeOfAll, rowOf } from './listed.ts';
export { LiveSeats } from './live_seats.svelte.ts';
export type { MapMark, MarkLook } from './marks.ts';
export {
  CATEGORIES,
  readPlan,
  type Box,
  type Category,
  type EventZoneJson,
  type Point,
  type SeatPlan,
  type ZoneShape,
} from './plan.ts';
export { default as SeatList } from './SeatList.svelte';
export { default as SeatMap } from './SeatMap.svelte';
export {
  AVAILABLE,
  BLOCKED,
  HELD,
  SeatStates,
  SOLD,
  type SeatCode,
  type SeatMapJson,
} from './states.ts';
export { MapView } from './view.ts';
export type { MapWords, ZonePrice } from './words.ts';
