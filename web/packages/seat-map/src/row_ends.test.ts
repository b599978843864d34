import { expect, test } from 'vitest';
import { readPlan } from './plan.ts';
import { rowEnds } from './row_ends.ts';
import { aHouse } from './testing.ts';

test('a row has its name at both ends, and nowhere between', () => {
  const { seats, pitch } = readPlan(aHouse(2, 3));
  expect(rowEnds(seats, 0, pitch)).toEqual([{ x: 0, y: 5 }]);
  expect(rowEnds(seats, 1, pitch)).toEqual([]);
  expect(rowEnds(seats, 2, pitch)).toEqual([{ x: 4, y: 5 }]);
  expect(rowEnds(seats, 3, pitch)).toEqual([{ x: 0, y: 6 }]);
});

test('a row of one seat has its name on both sides', () => {
  const { seats, pitch } = readPlan(aHouse(1, 1));
  expect(rowEnds(seats, 0, pitch).map(({ x }) => x)).toEqual([0, 2]);
});

test('around a table the name stands once', () => {
  const { seats } = readPlan(aHouse(1, 4));
  seats.x.set([0, 1, 1, 0]);
  seats.y.set([0, 0, 1, 1]);
  const named = [0, 1, 2, 3].flatMap((position) => rowEnds(seats, position, 1));
  expect(named).toHaveLength(1);
});
