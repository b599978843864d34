import type { EventOccupancy, Gate, ZoneCount } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { level, Levels } from './levels.ts';

const gate = { id: 'north', name: 'North', capacity: 100 } as Gate;
const zone = { zone_id: 'floor', name: 'Floor', capacity: 400 } as ZoneCount;

function occupancy(): EventOccupancy {
  const count = { event_id: 'e', entries: 0, exits: 0, irregular: 0 };
  return {
    event_id: 'e',
    day: '2030-01-02',
    current: 90,
    capacity: 1_000,
    percent_full: 9,
    irregular: 3,
    emptied_at: null,
    emptied_by_id: null,
    gates: [{ gate_id: 'north', inside: 90, irregular: 2, is_limited: false }],
    counts: [
      { ...count, day: '2030-01-01', scope: 'gate', scope_id: 'north', inside: 77, irregular: 5 },
      { ...count, day: '2030-01-02', scope: 'gate', scope_id: 'north', inside: 90, irregular: 2 },
      { ...count, day: '2030-01-02', scope: 'zone', scope_id: 'floor', inside: 90 },
      { ...count, day: '2030-01-02', scope: 'event', scope_id: 'e', inside: 90, irregular: 3 },
    ],
  };
}

test('shows who is inside today, not who was yesterday', () => {
  const levels = new Levels();
  levels.read(occupancy());
  expect(levels.event('e')).toMatchObject({ inside: 90, capacity: 1_000, percent: 9 });
  expect(levels.gates([gate])[0]).toMatchObject({ inside: 90, percent: 90, fullness: 'nearly' });
  expect(levels.zones([zone])[0]).toMatchObject({ inside: 90, percent: 22, fullness: 'room' });
});

test('shows who stayed overnight by a gate with a limit', () => {
  const stayed = { gate_id: 'north', inside: 97, irregular: 0, is_limited: true };
  const levels = new Levels();
  levels.read({ ...occupancy(), gates: [stayed] });
  expect(levels.gates([gate])[0]).toMatchObject({ inside: 97, fullness: 'nearly' });
});

test('a message moves the total and the gate where it was', () => {
  const levels = new Levels();
  levels.read(occupancy());
  levels.hear(91, 'north', 100);
  expect(levels.total).toBe(91);
  expect(levels.gates([gate])[0]).toMatchObject({ inside: 100, fullness: 'full' });
});

test('says how many of those inside had no right to come in, also after a message', () => {
  const levels = new Levels();
  levels.read(occupancy());
  expect(levels.event('e').irregular).toBe(3);
  expect(levels.zones([zone])[0]?.irregular).toBe(0);
  levels.hear(91, 'north', 91);
  expect(levels.gates([gate])[0]).toMatchObject({ inside: 91, irregular: 2 });
  levels.read({ ...occupancy(), irregular: 0 });
  expect(levels.event('e').irregular).toBe(0);
});

test('a gate without a limit is never full, and nobody is fewer than nobody', () => {
  const full = level('a', 'A', { inside: 5_000, irregular: 0 }, null);
  expect(full).toMatchObject({ percent: null, fullness: 'room' });
  const empty = level('a', 'A', { inside: -3, irregular: 0 }, 10);
  expect(empty).toMatchObject({ inside: 0, percent: 0 });
});
