/** The plan of a house as the map draws it: flat arrays in the order of the layout. */

export type ZoneKind =
  'reserved_seating' | 'ga_seated' | 'ga_standing' | 'vip_reserved' | 'vip_standing';
export type AccessMode = 'public' | 'membership_tier' | 'role_based' | 'whitelist';
export type Category = 'standard' | 'wheelchair' | 'companion' | 'restricted_view' | 'aisle';

/** A seat's category is its place in this list. */
export const CATEGORIES: readonly Category[] = [
  'standard',
  'wheelchair',
  'companion',
  'restricted_view',
  'aisle',
];

const SEATED: ReadonlySet<ZoneKind> = new Set(['reserved_seating', 'vip_reserved']);
const PITCHES_LOOKED_AT_MAX = 2_000;

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface ZoneShape {
  id: string;
  name: string;
  kind: ZoneKind;
  hasSeats: boolean;
  enabled: boolean;
  access: AccessMode;
  tier: string | null;
  capacity: number;
  /** The position of its first seat; the others follow. */
  first: number;
  count: number;
  /** Around its seats, or that of an area; null when nobody said where the area is. */
  box: Box | null;
}

export interface Seats {
  x: Float32Array;
  y: Float32Array;
  /** Indexes of zones. */
  zone: Uint16Array;
  category: Uint8Array;
  rows: string[];
  /** The numbers on the seats. */
  labels: string[];
  /** What people and the API call them: `A-1`. */
  ids: string[];
  /** Of a wheelchair place its companion, and the other way round; -1 for none. */
  partner: Int32Array;
}

export interface SeatPlan {
  zones: ZoneShape[];
  seats: Seats;
  bounds: Box;
  /** What everybody looks at. */
  focus: Point | null;
  /** The distance of two neighbours. */
  pitch: number;
}

interface SeatJson {
  seat_id: string;
  row: string;
  number: number;
  category?: Category;
  coordinates: { x: number; y: number };
  companion_seat_id?: string | null;
}

interface ZoneJson {
  zone_id: string;
  zone_type: ZoneKind;
  name: string;
  capacity: number;
  access_mode?: AccessMode;
  membership_tier?: string | null;
  metadata?: Record<string, unknown>;
  seats?: SeatJson[];
}

interface ConfigJson {
  zones: ZoneJson[];
  focal_point?: { x: number; y: number } | null;
}

/** A zone as one event has it; `zone` comes without its seats. */
export interface EventZoneJson {
  zone: unknown;
  enabled: boolean;
}

/** Of `GET /api/layouts/{id}/config`, with the zones of `GET /api/events/{id}/layout` over it. */
export function readPlan(config: unknown, eventZones: readonly EventZoneJson[] = []): SeatPlan {
  const { zones: layoutZones, focal_point: focus = null } = config as ConfigJson;
  const seats = readSeats(layoutZones);
  let first = 0;
  const zones = layoutZones.map((layoutZone, index) => {
    const own = eventZones[index];
    const count = layoutZone.seats?.length ?? 0;
    const zone = (own?.zone ?? layoutZone) as ZoneJson;
    const box = count > 0 ? boxAround(seats, first, count) : boxOf(layoutZone.metadata);
    const shape = zoneShape(zone, own?.enabled ?? true, first, count, box);
    first += count;
    return shape;
  });
  const pitch = pitchOf(seats);
  return { zones, seats, bounds: boundsOf(zones, focus, pitch), focus, pitch };
}

function readSeats(zones: readonly ZoneJson[]): Seats {
  const count = zones.reduce((sum, zone) => sum + (zone.seats?.length ?? 0), 0);
  const seats: Seats = {
    x: new Float32Array(count),
    y: new Float32Array(count),
    zone: new Uint16Array(count),
    category: new Uint8Array(count),
    rows: [],
    labels: [],
    ids: [],
    partner: new Int32Array(count).fill(-1),
  };
  const paired: [position: number, partner: string][] = [];
  let position = 0;
  zones.forEach((zone, index) => {
    for (const seat of zone.seats ?? []) {
      seats.x[position] = seat.coordinates.x;
      seats.y[position] = seat.coordinates.y;
      seats.zone[position] = index;
      seats.category[position] = CATEGORIES.indexOf(seat.category ?? 'standard');
      seats.rows.push(seat.row);
      seats.labels.push(String(seat.number));
      seats.ids.push(seat.seat_id);
      if (seat.companion_seat_id) paired.push([position, seat.companion_seat_id]);
      position += 1;
    }
  });
  const positions = new Map(paired.map(([at]) => [seats.ids[at], at]));
  for (const [at, partner] of paired) seats.partner[at] = positions.get(partner) ?? -1;
  return seats;
}

function zoneShape(
  zone: ZoneJson,
  enabled: boolean,
  first: number,
  count: number,
  box: Box | null,
): ZoneShape {
  return {
    id: zone.zone_id,
    name: zone.name,
    kind: zone.zone_type,
    hasSeats: SEATED.has(zone.zone_type),
    enabled,
    access: zone.access_mode ?? 'public',
    tier: zone.membership_tier ?? null,
    capacity: zone.capacity,
    first,
    count,
    box,
  };
}

function boxAround({ x, y }: Seats, first: number, count: number): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let position = first; position < first + count; position++) {
    left = Math.min(left, x[position]!);
    right = Math.max(right, x[position]!);
    top = Math.min(top, y[position]!);
    bottom = Math.max(bottom, y[position]!);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function boxOf(metadata: Record<string, unknown> = {}): Box | null {
  const { x, y, width, height } = metadata;
  const numbers = [x, y, width, height];
  if (!numbers.every((value) => typeof value === 'number' && Number.isFinite(value))) return null;
  return { x, y, width, height } as Box;
}

/** The middle one of the distances of seats that follow each other in a row. */
function pitchOf({ x, y, rows, zone }: Seats): number {
  const distances: number[] = [];
  for (let at = 1; at < x.length && distances.length < PITCHES_LOOKED_AT_MAX; at++) {
    if (rows[at] !== rows[at - 1] || zone[at] !== zone[at - 1]) continue;
    distances.push(Math.hypot(x[at]! - x[at - 1]!, y[at]! - y[at - 1]!));
  }
  distances.sort((one, other) => one - other);
  return distances[distances.length >> 1] || 1;
}

function boundsOf(
  zones: readonly ZoneShape[],
  focus: { x: number; y: number } | null,
  pitch: number,
): Box {
  const boxes = zones.flatMap(({ box }) => box ?? []);
  if (focus) boxes.push({ ...focus, width: 0, height: 0 });
  if (boxes.length === 0) return { x: 0, y: 0, width: 1, height: 1 };
  const left = Math.min(...boxes.map(({ x }) => x)) - pitch;
  const top = Math.min(...boxes.map(({ y }) => y)) - pitch;
  const right = Math.max(...boxes.map(({ x, width }) => x + width)) + pitch;
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + pitch;
  return { x: left, y: top, width: right - left, height: bottom - top };
}
