import { expect, test } from 'vitest';
import { REASONS } from './model.ts';
import { colourOf, outcomeOf } from './outcomes.ts';

test('valid and green is the outcome of every admission and of nothing else', () => {
  expect(colourOf(outcomeOf(null))).toBe('green');
  for (const reason of REASONS) {
    expect(outcomeOf(reason)).not.toBe('valid');
    expect(colourOf(outcomeOf(reason))).toBe('red');
  }
});
