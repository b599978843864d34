import { expect, test } from 'vitest';
import { canChoose, freeIn, freeOfAll, rowOf, rowsOf } from './listed.ts';
import { readPlan } from './plan.ts';
import { SeatStates } from './states.ts';
import { aHouse } from './testing.ts';

test('rows in the order of the layout, each with its seats', () => {
  const plan = readPlan(aHouse(2, 3));
  expect(rowsOf(plan, 0)).toEqual([]);
  expect(rowsOf(plan, 1)).toEqual([
    { name: 'R1', positions: [0, 1, 2] },
    { name: 'R2', positions: [3, 4, 5] },
  ]);
});

test('the row of a seat is those with its name in its zone', () => {
  expect(rowOf(readPlan(aHouse(2, 3)), 4)).toEqual([3, 4, 5]);
});

test('free is what can be asked for; what is kept for the box office only by its staff', () => {
  const states = new SeatStates(Uint8Array.of(0, 1, 2, 3, 4, 5), 1);
  const all = [0, 1, 2, 3, 4, 5];
  expect(all.filter((position) => canChoose(states, position, false))).toEqual([0, 4]);
  expect(freeIn(states, all, true)).toBe(3);
});

test('the house has as many free seats as its rows, also after some were taken', () => {
  const states = new SeatStates(Uint8Array.of(0, 1, 2, 3, 4, 5, 0), 1);
  const all = [0, 1, 2, 3, 4, 5, 6];
  states.apply([[6, 1]], 2);
  for (const staff of [true, false]) {
    expect(freeOfAll(states, staff)).toBe(freeIn(states, all, staff));
  }
});
