import { expect, test, vi } from 'vitest';
import { AVAILABLE, BLOCKED, HELD, SeatStates, SOLD } from './states.ts';

function five(): SeatStates {
  // 0 1 | 2 3 | 4: the first of two seats is in the low bits.
  return SeatStates.fromMap({ seat_count: 5, seats: btoa('\x10\x32\x04'), seq: 7 });
}

test('two seats to a byte, the first in the low bits', () => {
  const states = five();
  expect([0, 1, 2, 3, 4].map((position) => states.codeAt(position))).toEqual([0, 1, 2, 3, 4]);
  expect([...states.counts]).toEqual([1, 1, 1, 1, 1, 0]);
});

test('the next change is applied, and counted', () => {
  const states = five();
  const heard = vi.fn();
  states.listen(heard);
  const changes = [
    [0, HELD],
    [2, SOLD],
  ] as const;
  expect(states.apply(changes, 8)).toBe('applied');
  expect(states.codeAt(0)).toBe(HELD);
  expect(states.seq).toBe(8);
  expect([...states.counts]).toEqual([0, 2, 1, 1, 1, 0]);
  expect(heard.mock.calls).toEqual([[[0]]]);
});

test('a change that the map has already changes nothing', () => {
  const states = five();
  expect(states.apply([[0, SOLD]], 7)).toBe('applied');
  expect(states.codeAt(0)).toBe(AVAILABLE);
});

test('after a gap nothing is believed', () => {
  const states = five();
  expect(states.apply([[0, SOLD]], 9)).toBe('gap');
  expect(states.codeAt(0)).toBe(AVAILABLE);
  expect(states.seq).toBe(7);
});

test('a seat that is not there is blocked, and changes of it are nobody’s', () => {
  const states = five();
  expect(states.codeAt(99)).toBe(BLOCKED);
  expect(states.apply([[99, SOLD]], 8)).toBe('applied');
});

test('whoever stopped listening hears nothing', () => {
  const states = five();
  const heard = vi.fn();
  states.listen(heard)();
  states.apply([[0, SOLD]], 8);
  expect(heard).not.toHaveBeenCalled();
});
