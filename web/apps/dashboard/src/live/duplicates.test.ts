import { expect, test } from 'vitest';
import { duplicatesOf } from './duplicates.ts';

test('a ticket that was in already is a duplicate, one at the wrong gate is not', () => {
  expect(
    duplicatesOf([
      ['already_scanned', 4],
      ['wrong_gate', 9],
      ['ticket_already_used', 2],
    ]),
  ).toBe(6);
});
