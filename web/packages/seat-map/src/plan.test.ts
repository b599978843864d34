import { expect, test } from 'vitest';
import { CATEGORIES, readPlan } from './plan.ts';
import { aHouse } from './testing.ts';

test('seats keep the order of the layout, zone by zone', () => {
  const plan = readPlan(aHouse(2, 3));
  expect(plan.seats.ids).toEqual(['R1-1', 'R1-2', 'R1-3', 'R2-1', 'R2-2', 'R2-3']);
  expect(plan.zones.map(({ first, count }) => [first, count])).toEqual([
    [0, 0],
    [0, 6],
  ]);
  expect([...plan.seats.zone]).toEqual([1, 1, 1, 1, 1, 1]);
});

test('the bounds have room for areas, seats and what everybody looks at', () => {
  const { bounds, pitch } = readPlan(aHouse(2, 3));
  expect(pitch).toBe(1);
  expect(bounds).toEqual({ x: 0, y: -5, width: 5, height: 12 });
});

test('a wheelchair place and its companion know each other', () => {
  const seats = [
    { seat_id: 'A-1', row: 'A', number: 1, category: 'wheelchair', companion_seat_id: 'A-2' },
    { seat_id: 'A-2', row: 'A', number: 2, category: 'companion', companion_seat_id: 'A-1' },
  ].map((seat, x) => ({ ...seat, coordinates: { x, y: 0 } }));
  const zone = { zone_id: 'z', zone_type: 'reserved_seating', name: 'Z', capacity: 2, seats };
  const plan = readPlan({ zones: [zone] });
  expect([...plan.seats.partner]).toEqual([1, 0]);
  expect(CATEGORIES[plan.seats.category[0]!]).toBe('wheelchair');
});

test('what the event does differently goes over the layout', () => {
  const stalls = {
    zone_id: 'stalls',
    zone_type: 'vip_reserved',
    name: 'Lounge',
    capacity: 1,
    access_mode: 'membership_tier',
    membership_tier: 'gold',
  };
  const pit = { zone_id: 'pit', zone_type: 'ga_standing', name: 'Pit', capacity: 10 };
  const plan = readPlan(aHouse(2, 3), [
    { zone: pit, enabled: false },
    { zone: stalls, enabled: true },
  ]);
  expect(plan.zones[0]).toMatchObject({ enabled: false, capacity: 10 });
  expect(plan.zones[0]!.box).not.toBeNull();
  expect(plan.zones[1]).toMatchObject({ access: 'membership_tier', tier: 'gold', count: 6 });
});

test('an area that nobody drew has no box, and a plan of such has bounds all the same', () => {
  const zone = { zone_id: 'z', zone_type: 'ga_standing', name: 'Floor', capacity: 2 };
  const plan = readPlan({ zones: [zone] });
  expect(plan.zones[0]!.box).toBeNull();
  expect(plan.bounds.width).toBeGreaterThan(0);
});
