import { expect, test } from 'vitest';
import { drawable } from './drawable.ts';
import { findingsOf } from './findings.ts';

const CONFIG = {
  zones: [
    {
      name: 'Stalls',
      seats: [0, 1, 2].map((x) => ({ seat_id: `A-${x}`, coordinates: { x, y: 0 } })),
    },
  ],
};
const found = (faults: { path: string; message: string }[]) =>
  findingsOf(faults, drawable(CONFIG), (numbers, places) => {
    return `${numbers.join()} ${places.map(({ name }) => name).join()}`;
  });

test('a fault is marked where it is, by its number', () => {
  const { list, marks } = found([{ path: '$.zones[0].seats[1].row', message: 'is missing' }]);
  expect(marks).toMatchObject([
    { sign: '1', name: '1 A-1', look: 'fault', box: { x: 1, y: 0, width: 0 } },
  ]);
  expect(list).toMatchObject([{ number: 1, mark: marks[0]!.key, place: { name: 'A-1' } }]);
});

test('several faults of one seat are one mark', () => {
  const path = '$.zones[0].seats[1]';
  const faults = ['row', 'number', 'category'].map((each) => ({
    path: `${path}.${each}`,
    message: 'is missing',
  }));
  expect(found(faults.slice(0, 2)).marks.map(({ sign }) => sign)).toEqual(['1, 2']);
  expect(found(faults).marks.map(({ sign }) => sign)).toEqual(['1…']);
});

test('of two seats that collide both are marked', () => {
  const message = 'is already the seat_id of $.zones[0].seats[0]';
  const { marks, list } = found([{ path: '$.zones[0].seats[2].seat_id', message }]);
  expect(marks.map(({ sign, box }) => [sign, box.x])).toEqual([
    ['1', 0],
    ['1', 2],
  ]);
  expect(list[0]!.mark).toBe(marks[1]!.key);
});

test('a fault of the whole has no mark', () => {
  const { marks, list } = found([{ path: '$.total_capacity', message: 'must be 3' }]);
  expect([marks, list[0]!.mark]).toEqual([[], undefined]);
});

test('two seats in one place are one mark that names both', () => {
  const seat = (seat_id: string) => ({ seat_id, coordinates: { x: 5, y: 5 } });
  const config = { zones: [{ seats: [seat('B-1'), seat('B-2')] }] };
  const message = 'must be at least 0.1 away from $.zones[0].seats[0]';
  const fault = { path: '$.zones[0].seats[1].coordinates', message };
  const { marks } = findingsOf([fault], drawable(config), (_, places) =>
    places.map(({ name }) => name).join(),
  );
  expect(marks.map(({ name }) => name)).toEqual(['B-1,B-2']);
});
