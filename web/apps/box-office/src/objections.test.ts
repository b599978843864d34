import { expect, test } from 'vitest';
import { en } from './messages/en.ts';
import { alternatives, objections } from './objections.ts';
import type { SelectionCheck } from './types.ts';

const CHECK: SelectionCheck = {
  bookable: false,
  problems: [
    { code: 'too_many_seats', message: 'At most 2.' },
    { code: 'would_orphan_seats', message: 'A-1 would be alone.' },
  ],
  warnings: [],
  orphans: ['A-1'],
  alternatives: [{ together: true, seats: [{ seat_id: 'B-1' }, { seat_id: 'B-2' }] }],
};

test('of a seat left alone is spoken once', () => {
  const said = objections(CHECK, en, ({ message }) => message);
  expect(said).toEqual(['At most 2.', 'This would leave a single seat that nobody buys: A-1.']);
});

test('nothing was asked yet, and nothing is against it', () => {
  expect(objections(undefined, en, ({ message }) => message)).toEqual([]);
  expect(alternatives(undefined)).toEqual([]);
});

test('what could be had instead has the names of its seats', () => {
  expect(alternatives(CHECK)).toEqual([['B-1', 'B-2']]);
});
