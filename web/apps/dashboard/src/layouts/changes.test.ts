import type { LayoutDiff } from '@voelgoed/api';
import { readPlan } from '@voelgoed/seat-map';
import { expect, test } from 'vitest';
import { marksOf, onOnePaper, seatChanges } from './changes.ts';
import { aRow } from './testing.ts';

const NONE: LayoutDiff = {
  added: [],
  removed: [],
  moved: [],
  recategorised: [],
  relabelled: [],
  rezoned: [],
  zones_added: [],
  zones_removed: [],
  zones_changed: [],
  companions_changed: [],
  groups_changed: false,
  focal_point_moved: false,
};
const before = readPlan(aRow([1, 2, 3]));
const after = readPlan(aRow([2, 3, 4]));

test('what came, went or moved is where it is now, or was', () => {
  const from = { x: 9, y: 9 };
  const moved = [{ seat_id: 'A-3', before: from, after: { x: 3, y: 0 } }];
  const changes = seatChanges({ ...NONE, added: ['A-4'], removed: ['A-1'], moved }, before, after);
  expect(changes.map(({ seatId, look, at }) => [seatId, look, at.x])).toEqual([
    ['A-4', 'added', 4],
    ['A-1', 'removed', 1],
    ['A-3', 'moved', 3],
  ]);
  expect(marksOf(changes, ({ seatId }) => seatId)).toMatchObject([
    { sign: '+', look: 'added' },
    { sign: '×', look: 'removed' },
    { sign: '→', look: 'moved', from },
  ]);
});

test('a seat with several differences is one change', () => {
  const diff: LayoutDiff = {
    ...NONE,
    moved: [{ seat_id: 'A-2', before: { x: 0, y: 0 }, after: { x: 2, y: 0 } }],
    recategorised: [{ seat_id: 'A-2', before: 'standard', after: 'wheelchair' }],
    companions_changed: ['A-2', 'A-3'],
  };
  expect(seatChanges(diff, before, after)).toMatchObject([
    { look: 'moved', what: ['category', 'companion'], before: 'standard', after: 'wheelchair' },
    { look: 'changed', what: ['companion'] },
  ]);
});

test('the paper is large enough for both', () => {
  const { bounds, seats } = onOnePaper(after, before);
  expect(seats).toBe(after.seats);
  expect([bounds.x, bounds.x + bounds.width]).toEqual([0, 5]);
});
