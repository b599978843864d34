import { expect, test } from 'vitest';
import { drawable } from './drawable.ts';

const seat = (seat_id: unknown, x: unknown, y: unknown = 0) => ({
  seat_id,
  row: 'A',
  number: 1,
  coordinates: { x, y },
});

const CONFIG = {
  zones: [
    { name: 'Pit', zone_type: 'ga_standing', metadata: { x: 0, y: -9, width: 4, height: 2 } },
    {
      name: 'Stalls',
      zone_type: 'nonsense',
      seats: [seat('A-1', 0), seat('A-2', 'far'), seat('A-1', 2), seat(7, 3)],
    },
  ],
  seat_groups: [{ name: 'Family', seat_ids: ['A-9', 'A-1'] }],
};

test('what has a place is drawn, and the rest is left out', () => {
  const { plan } = drawable(CONFIG);
  expect([...plan.seats.x]).toEqual([0, 2, 3]);
  expect(plan.seats.ids).toEqual(['A-1', 'A-1', '7']);
  expect(plan.zones.map(({ name, count }) => [name, count])).toEqual([
    ['Pit', 0],
    ['Stalls', 3],
  ]);
});

test('a path leads to its seat, its zone, or the seats of its group', () => {
  const { place } = drawable(CONFIG);
  const at = (x: number) => ({ x, y: 0, width: 0, height: 0 });
  expect(place('$.zones[1].seats[2].seat_id')).toEqual({ kind: 'seat', name: 'A-1', box: at(2) });
  expect(place('$.zones[1].seats[1].coordinates.x')).toEqual({
    kind: 'seat',
    name: 'A-2',
    box: null,
  });
  expect(place('$.zones[0].capacity')).toMatchObject({ kind: 'zone', name: 'Pit', box: { y: -9 } });
  expect(place('$.seat_groups[0].seat_ids[1]')).toMatchObject({ name: 'A-1', box: at(0) });
  expect(place('$.seat_groups[0].seat_ids[0]')).toMatchObject({ name: 'A-9', box: null });
  expect(place('$.seat_groups[0].group_type')).toMatchObject({ kind: 'group', box: at(0) });
});

test('a path that names no part has no place', () => {
  const { place } = drawable(CONFIG);
  for (const path of ['$', '$.total_capacity', '$.zones[9].name', '$.zones', '']) {
    expect(place(path)).toBeUndefined();
  }
});

test.each([
  [null],
  [[]],
  ['text'],
  [{ zones: 7 }],
  [{ zones: [null, 7, { seats: {} }, { seats: [null, [], { coordinates: [] }] }] }],
  [{ zones: [{ seats: [seat('A', Number.MAX_VALUE)] }], focal_point: { x: 'left' } }],
  [{ zones: [{ metadata: null }], seat_groups: [null, { seat_ids: 'A-1' }] }],
  [{ zones: Array.from({ length: 100_000 }, () => ({})) }],
])('nothing that is given breaks it', (given) => {
  const { plan, place } = drawable(given);
  expect(plan.seats.ids).toEqual([]);
  expect(() => place('$.zones[1].seats[1]')).not.toThrow();
});
