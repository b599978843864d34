import type { Colours } from './colours.ts';
import type { SeatGrid } from './grid.ts';
import { CATEGORIES, type SeatPlan, type ZoneShape } from './plan.ts';
import { rowEnds } from './row_ends.ts';
import { AVAILABLE, BLOCKED, BY_STAFF, FOR_COMPANION, HELD, type SeatStates } from './states.ts';
import type { MapView } from './view.ts';

const SEAT_OF_PITCH = 0.82;
/** Below this a circle and a square are the same few pixels, and a square is quicker. */
const ROUND_PIXELS_MIN = 4;
const NUMBER_PIXELS_MIN = 17;
/** Above this the seats are told apart, and names of sections would be in the way. */
const NAME_SEAT_PIXELS_MAX = 11;
/** From this on single seats can be chosen: a name over them would be in the way, so it stands below. */
const NAME_BELOW_PIXELS_MIN = 6;
const NAME_BELOW_PIXELS = 24;
const NAME_FONT = '600 13px system-ui, sans-serif';
const SMALL_FONT = '12px system-ui, sans-serif';
/** A zone with a door has its name, however small it is drawn. */
const DOOR_NAME_PIXELS_MIN = 140;
const DOOR_DASH = [6, 4];
const DOOR_OF_PITCH = 0.75;
const DOOR_NAME_ABOVE_PIXELS = 14;
const FULL_CIRCLE = 2 * Math.PI;
const WHEELCHAIR = CATEGORIES.indexOf('wheelchair');
const COMPANION = CATEGORIES.indexOf('companion');
const RESTRICTED = CATEGORIES.indexOf('restricted_view');

export interface Scene {
  plan: SeatPlan;
  grid: SeatGrid;
  states: SeatStates;
  /** For each zone, the number of its price's colour. */
  priceOf: readonly number[];
  /** For each zone, what stands under its name. */
  noteOf: readonly string[];
  /** For each zone, what is said of its door; empty where it is open to everybody. */
  doorOf: readonly string[];
  /** Whether whoever looks may sell what is kept for the box office. */
  staff: boolean;
  stage: string;
  colours: Colours;
}

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** All that changes only with the states: areas, seats, names. */
export function paintHouse(context: Context, scene: Scene, view: MapView): void {
  context.fillStyle = scene.colours.page;
  context.fillRect(0, 0, view.width, view.height);
  paintStage(context, scene, view);
  for (const zone of scene.plan.zones) if (zone.count === 0) paintArea(context, scene, view, zone);
  const seen: number[] = [];
  scene.grid.within(view.seen, (position) => seen.push(position));
  paintSeats(context, scene, view, seen);
  paintRowNames(context, scene, view, seen);
  paintDoors(context, scene, view);
  paintNames(context, scene, view);
}

/** These seats over whatever was there. */
export function paintSeats(
  context: Context,
  scene: Scene,
  view: MapView,
  positions: readonly number[],
): void {
  const byColour = new Map<string, number[]>();
  for (const position of positions) {
    const colour = colourOf(scene, position);
    const list = byColour.get(colour);
    if (list) list.push(position);
    else byColour.set(colour, [position]);
  }
  const size = seatPixels(view);
  for (const [colour, list] of byColour) {
    context.fillStyle = colour;
    if (size < ROUND_PIXELS_MIN) paintDots(context, scene.plan, view, list, size);
    else paintShapes(context, scene.plan, view, list, size);
  }
  if (scene.staff && size >= ROUND_PIXELS_MIN) paintCrosses(context, scene, view, positions, size);
  if (size >= NUMBER_PIXELS_MIN) paintNumbers(context, scene, view, positions, size);
}

/** A ring around each of these, and a fill: those chosen, or held by whoever looks. */
export function paintMarked(
  context: Context,
  scene: Scene,
  view: MapView,
  positions: Iterable<number>,
  colour: string,
): void {
  const { x, y } = scene.plan.seats;
  const size = Math.max(seatPixels(view), 7);
  context.lineWidth = Math.max(2, size / 8);
  context.strokeStyle = scene.colours.ink;
  context.fillStyle = colour;
  context.beginPath();
  for (const position of positions) {
    const at = view.toScreen(x[position]!, y[position]!);
    context.moveTo(at.x + size / 2, at.y);
    context.arc(at.x, at.y, size / 2, 0, FULL_CIRCLE);
  }
  context.fill();
  context.stroke();
}

function seatPixels(view: MapView): number {
  return view.pitch * view.scale * SEAT_OF_PITCH;
}

function colourOf({ states, colours, plan, priceOf, staff }: Scene, position: number): string {
  const code = states.codeAt(position);
  if (code === AVAILABLE || (code === BY_STAFF && staff)) {
    return colours.prices[priceOf[plan.seats.zone[position]!]!] ?? colours.taken;
  }
  if (code === HELD) return colours.held;
  return code === FOR_COMPANION ? colours.kept : colours.taken;
}

function paintDots(
  context: Context,
  { seats }: SeatPlan,
  view: MapView,
  positions: readonly number[],
  size: number,
): void {
  const { left, top, scale } = view;
  const side = Math.max(1, size);
  for (const position of positions) {
    const x = (seats.x[position]! - left) * scale - side / 2;
    context.fillRect(x, (seats.y[position]! - top) * scale - side / 2, side, side);
  }
}

/** Round; wheelchair places are squares, companions diamonds, restricted views half circles. */
function paintShapes(
  context: Context,
  { seats }: SeatPlan,
  view: MapView,
  positions: readonly number[],
  size: number,
): void {
  const half = size / 2;
  context.beginPath();
  for (const position of positions) {
    const { x, y } = view.toScreen(seats.x[position]!, seats.y[position]!);
    const category = seats.category[position];
    if (category === WHEELCHAIR) context.rect(x - half, y - half, size, size);
    else if (category === COMPANION) diamond(context, x, y, half);
    else if (category === RESTRICTED) {
      context.moveTo(x - half, y);
      context.arc(x, y, half, Math.PI, FULL_CIRCLE);
      context.closePath();
    } else {
      context.moveTo(x + half, y);
      context.arc(x, y, half, 0, FULL_CIRCLE);
    }
  }
  context.fill();
}

/** For who may block seats, a blocked one is not just one that is gone. */
function paintCrosses(
  context: Context,
  { plan, states, colours }: Scene,
  view: MapView,
  positions: readonly number[],
  size: number,
): void {
  const half = size * 0.32;
  context.strokeStyle = colours.ink;
  context.lineWidth = Math.max(1.5, size / 9);
  context.beginPath();
  for (const position of positions) {
    if (states.codeAt(position) !== BLOCKED) continue;
    const { x, y } = view.toScreen(plan.seats.x[position]!, plan.seats.y[position]!);
    context.moveTo(x - half, y - half);
    context.lineTo(x + half, y + half);
    context.moveTo(x - half, y + half);
    context.lineTo(x + half, y - half);
  }
  context.stroke();
}

function diamond(context: Context, x: number, y: number, half: number): void {
  context.moveTo(x, y - half);
  context.lineTo(x + half, y);
  context.lineTo(x, y + half);
  context.lineTo(x - half, y);
  context.closePath();
}

function paintNumbers(
  context: Context,
  { plan, colours, states, staff }: Scene,
  view: MapView,
  positions: readonly number[],
  size: number,
): void {
  context.font = `600 ${Math.min(14, Math.round(size / 2))}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = colours.page;
  for (const position of positions) {
    if (staff && states.codeAt(position) === BLOCKED) continue;
    const { x, y } = view.toScreen(plan.seats.x[position]!, plan.seats.y[position]!);
    context.fillText(plan.seats.labels[position]!, x, y);
  }
}

function paintArea(
  context: Context,
  { colours, priceOf, plan }: Scene,
  view: MapView,
  zone: ZoneShape,
): void {
  if (!zone.box) return;
  const { x, y } = view.toScreen(zone.box.x, zone.box.y);
  const [width, height] = [zone.box.width * view.scale, zone.box.height * view.scale];
  context.fillStyle = colours.area;
  context.fillRect(x, y, width, height);
  context.lineWidth = 2;
  context.strokeStyle = colours.prices[priceOf[plan.zones.indexOf(zone)]!] ?? colours.line;
  context.strokeRect(x, y, width, height);
}

function paintStage(context: Context, { plan, colours, stage }: Scene, view: MapView): void {
  if (!plan.focus) return;
  const { x, y } = view.toScreen(plan.focus.x, plan.focus.y);
  context.font = NAME_FONT;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const width = context.measureText(stage).width + 32;
  context.fillStyle = colours.line;
  context.fillRect(x - width / 2, y - 12, width, 24);
  context.fillStyle = colours.ink;
  context.fillText(stage, x, y);
}

/** At both ends of each row, where the numbers of its seats can be read. */
function paintRowNames(
  context: Context,
  { plan: { seats, pitch }, colours }: Scene,
  view: MapView,
  positions: readonly number[],
): void {
  const size = seatPixels(view);
  if (size < NUMBER_PIXELS_MIN) return;
  context.font = `600 ${Math.min(14, Math.round(size / 2))}px system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = colours.ink;
  for (const position of positions) {
    for (const end of rowEnds(seats, position, pitch)) {
      const { x, y } = view.toScreen(end.x, end.y);
      context.fillText(seats.rows[position]!, x, y);
    }
  }
}

/** A dashed line around what is not open to everybody. */
function paintDoors(context: Context, { plan, doorOf, colours }: Scene, view: MapView): void {
  context.lineWidth = 1.5;
  context.strokeStyle = colours.ink;
  context.setLineDash(DOOR_DASH);
  plan.zones.forEach(({ box, enabled }, index) => {
    if (!box || !enabled || !doorOf[index]) return;
    const margin = plan.zones[index]!.count > 0 ? plan.pitch * DOOR_OF_PITCH : 0;
    const { x, y } = view.toScreen(box.x - margin, box.y - margin);
    const [width, height] = [box.width + 2 * margin, box.height + 2 * margin];
    context.strokeRect(x, y, width * view.scale, height * view.scale);
  });
  context.setLineDash([]);
}

function paintNames(context: Context, scene: Scene, view: MapView): void {
  const size = seatPixels(view);
  const far = size <= NAME_SEAT_PIXELS_MAX;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  scene.plan.zones.forEach((zone, index) => {
    const door = scene.doorOf[index] ?? '';
    if (!zone.box || (zone.count > 0 && !far && !door)) return;
    const { box } = zone;
    const isAbove = zone.count > 0 && !far;
    const isBelow = zone.count > 0 && !isAbove && size >= NAME_BELOW_PIXELS_MIN;
    const down = isAbove ? 0 : isBelow ? box.height : box.height / 2;
    const at = view.toScreen(box.x + box.width / 2, box.y + down);
    if (isBelow) at.y += NAME_BELOW_PIXELS + (door ? size / 2 : 0);
    if (isAbove) at.y -= size + DOOR_NAME_ABOVE_PIXELS;
    const room = Math.max(box.width * view.scale, door ? DOOR_NAME_PIXELS_MIN : 0);
    const name = shortened(context, zone.name, room);
    const notes = [[door, scene.noteOf[index]].filter(Boolean).join(' · '), door];
    const note = name === zone.name ? firstFitting(context, room, notes) : '';
    if (name) paintText(context, scene, NAME_FONT, name, at.x, note ? at.y - 8 : at.y);
    if (note) paintText(context, scene, SMALL_FONT, note, at.x, at.y + 8);
  });
}

/** `South 104`, or where there is only room for that, `104`. */
function shortened(context: Context, name: string, room: number): string {
  return (
    fitting(context, NAME_FONT, room, name) ||
    fitting(context, NAME_FONT, room, name.split(' ').at(-1))
  );
}

/** As much as there is room for. */
function firstFitting(context: Context, room: number, texts: readonly string[]): string {
  return texts.find((text) => fitting(context, SMALL_FONT, room, text)) ?? '';
}

/** The text, if there is room for it. */
function fitting(context: Context, font: string, room: number, text = ''): string {
  context.font = font;
  return context.measureText(text).width <= room ? text : '';
}

/** With a rim in the colour of the page, so that it can be read over seats. */
function paintText(
  context: Context,
  { colours }: Scene,
  font: string,
  text: string,
  x: number,
  y: number,
): void {
  context.font = font;
  context.lineWidth = 4;
  context.strokeStyle = colours.page;
  context.strokeText(text, x, y);
  context.fillStyle = colours.ink;
  context.fillText(text, x, y);
}
