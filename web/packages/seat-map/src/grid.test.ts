import { expect, test } from 'vitest';
import { SeatGrid } from './grid.ts';
import { readPlan } from './plan.ts';
import { aHouse } from './testing.ts';

const plan = readPlan(aHouse(40, 50));
const grid = new SeatGrid(plan);

test('every seat is found where it is', () => {
  plan.seats.ids.forEach((_, position) => {
    const [x, y] = [plan.seats.x[position]!, plan.seats.y[position]!];
    expect(grid.nearest(x + 0.2, y - 0.2, 0.5)).toBe(position);
  });
});

test('between and beside the seats is nothing', () => {
  expect(grid.nearest(1.5, 5.5, 0.5)).toBeUndefined();
  expect(grid.nearest(-1000, 1000, 0.5)).toBeUndefined();
});

test('a frame has the seats whose middle is in it', () => {
  const framed = grid.inside({ x: 9.5, y: 9.5, width: 2, height: 1 });
  const names = framed.map((position) => plan.seats.ids[position]);
  expect(names.toSorted()).toEqual(['R6-10', 'R6-11']);
  expect(grid.inside({ x: -100, y: -100, width: 1, height: 1 })).toEqual([]);
});

test('what is within a box is visited once, and hardly anything else', () => {
  const visited: number[] = [];
  grid.within({ x: 10, y: 10, width: 4, height: 4 }, (position) => visited.push(position));
  expect(new Set(visited).size).toBe(visited.length);
  expect(visited.length).toBeLessThan(100);
  const inside = plan.seats.ids.flatMap((_, position) => {
    const [x, y] = [plan.seats.x[position]!, plan.seats.y[position]!];
    return x >= 10 && x <= 14 && y >= 10 && y <= 14 ? [position] : [];
  });
  expect(visited).toEqual(expect.arrayContaining(inside));
});
