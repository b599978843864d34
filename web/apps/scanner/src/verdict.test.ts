import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { anAnswer } from './testing.ts';
import { lightOf, SHOWN_MS, VerdictState, type Verdict } from './verdict.svelte.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const shown = (colour: 'green' | 'yellow' | 'red'): Verdict => ({
  kind: 'answer',
  answer: anAnswer({ colour }),
  isPractice: false,
});

test.each([
  ['green', 2_000],
  ['yellow', 2_000],
  ['red', 3_000],
] as const)('%s goes by itself after %i ms, and not before', (colour, ms) => {
  const state = new VerdictState();
  state.show(shown(colour));
  vi.advanceTimersByTime(ms - 1);
  expect(state.current).not.toBeNull();
  vi.advanceTimersByTime(1);
  expect(state.current).toBeNull();
});

test('the next verdict has its own time, however much was left of the one before', () => {
  const state = new VerdictState();
  state.show(shown('green'));
  vi.advanceTimersByTime(SHOWN_MS.green - 1);
  state.show(shown('red'));
  vi.advanceTimersByTime(SHOWN_MS.red - 1);
  expect(state.current && lightOf(state.current)).toBe('red');
});

test('dismissing a verdict does not dismiss the next one', () => {
  const state = new VerdictState();
  state.show(shown('green'));
  state.dismiss();
  expect(state.current).toBeNull();
  vi.advanceTimersByTime(SHOWN_MS.green - 1);
  state.show(shown('green'));
  vi.advanceTimersByTime(1);
  expect(state.current).not.toBeNull();
});

test('an undecidable scan is red, and practice is never yellow', () => {
  expect(lightOf({ kind: 'problem', problem: { code: 'storage_full', said: null } })).toBe('red');
  expect(lightOf({ ...shown('yellow'), isPractice: true } as Verdict)).toBe('green');
  expect(lightOf({ ...shown('red'), isPractice: true } as Verdict)).toBe('red');
});
