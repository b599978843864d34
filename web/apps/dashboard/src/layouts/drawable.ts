import { readPlan, type Box, type SeatPlan } from '@voelgoed/seat-map';

const COORDINATE_MAX = 1_000_000;
/** More than a layout may have; what is beyond is not drawn. */
const ZONES_MAX = 1_000;
const SEATS_MAX = 200_000;
const ZONE_TYPES = ['reserved_seating', 'ga_seated', 'ga_standing', 'vip_reserved', 'vip_standing'];
const CATEGORIES = ['standard', 'wheelchair', 'companion', 'restricted_view', 'aisle'];

type Given = Record<string, unknown>;

/** What can be drawn of a layout that may be wrong anywhere, and where each part of it is. */
export interface Drawable {
  plan: SeatPlan;
  /** Where something is that a path of the document names, and what it is called. */
  place: (path: string) => Place | undefined;
}

export interface Place {
  box: Box | null;
  /** As the document calls it: the seat's id, or the zone's name. */
  name: string;
  kind: 'seat' | 'zone' | 'group';
}

export function drawable(given: unknown): Drawable {
  const config = asObject(given);
  const zones = asList(config.zones).slice(0, ZONES_MAX).map(asObject);
  const groups = asList(config.seat_groups).map(asObject);
  let left = SEATS_MAX;
  /** For each zone, the position of each of its seats, -1 for one that is nowhere. */
  const positions: number[][] = [];
  let next = 0;
  const drawn = zones.map((zone) => {
    const seats = asList(zone.seats).map(asObject).slice(0, left);
    left -= seats.length;
    const hasPlace = seats.map((seat) => isPlace(seat.coordinates));
    positions.push(hasPlace.map((is) => (is ? next++ : -1)));
    return drawnZone(zone, seats.filter((_, at) => hasPlace[at]).map(drawnSeat));
  });
  const plan = readPlan({
    zones: drawn,
    focal_point: isPlace(config.focal_point) ? config.focal_point : null,
  });
  return { plan, place: placesOf(plan, zones, groups, positions) };
}

function placesOf(
  plan: SeatPlan,
  zones: readonly Given[],
  groups: readonly Given[],
  positions: readonly number[][],
): Drawable['place'] {
  const bySeatId = new Map<string, number>();
  plan.seats.ids.forEach((id, position) => {
    if (!bySeatId.has(id)) bySeatId.set(id, position);
  });
  const seatBox = (position: number | undefined): Box | null =>
    position === undefined || position < 0
      ? null
      : { x: plan.seats.x[position]!, y: plan.seats.y[position]!, width: 0, height: 0 };

  return (path) => {
    const [, zoneAt, seatAt] = /^\$\.zones\[(\d+)\](?:\.seats\[(\d+)\])?/.exec(path) ?? [];
    const zone = zones[Number(zoneAt)];
    if (zone && seatAt !== undefined) {
      const seat = asObject(asList(zone.seats)[Number(seatAt)]);
      const name = asText(seat.seat_id);
      return { kind: 'seat', name, box: seatBox(positions[Number(zoneAt)]?.[Number(seatAt)]) };
    }
    if (zone) {
      const { box } = plan.zones[Number(zoneAt)]!;
      return { kind: 'zone', name: asText(zone.name), box };
    }
    const [, groupAt, memberAt] =
      /^\$\.seat_groups\[(\d+)\](?:\.seat_ids\[(\d+)\])?/.exec(path) ?? [];
    const group = groups[Number(groupAt)];
    if (!group) return undefined;
    const members = asList(group.seat_ids).map(asText);
    if (memberAt !== undefined) {
      const name = members[Number(memberAt)] ?? '';
      return { kind: 'seat', name, box: seatBox(bySeatId.get(name)) };
    }
    const known = members.find((id) => bySeatId.has(id)) ?? '';
    return { kind: 'group', name: asText(group.name), box: seatBox(bySeatId.get(known)) };
  };
}

function drawnZone(zone: Given, seats: unknown[]): unknown {
  const type = asText(zone.zone_type);
  return {
    zone_id: asText(zone.zone_id),
    name: asText(zone.name),
    zone_type: ZONE_TYPES.includes(type) ? type : 'ga_standing',
    capacity: typeof zone.capacity === 'number' ? zone.capacity : seats.length,
    metadata: asObject(zone.metadata),
    seats,
  };
}

function drawnSeat(seat: Given): unknown {
  const category = asText(seat.category);
  return {
    seat_id: asText(seat.seat_id),
    row: asText(seat.row),
    number: asText(seat.number),
    category: CATEGORIES.includes(category) ? category : 'standard',
    coordinates: seat.coordinates,
  };
}

function isPlace(given: unknown): boolean {
  const { x, y } = asObject(given);
  return [x, y].every((value) => typeof value === 'number' && Math.abs(value) <= COORDINATE_MAX);
}

function asObject(given: unknown): Given {
  return typeof given === 'object' && given !== null ? (given as Given) : {};
}

function asList(given: unknown): unknown[] {
  return Array.isArray(given) ? given : [];
}

function asText(given: unknown): string {
  return typeof given === 'string' || typeof given === 'number' ? String(given) : '';
}
