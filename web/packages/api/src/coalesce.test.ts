import { expect, test } from 'vitest';
import { coalesced } from './coalesce.ts';

function work() {
  const ends: Array<() => void> = [];
  return { ends, run: () => new Promise<void>((resolve) => ends.push(resolve)) };
}

test('a burst of calls costs the run in progress and one more', async () => {
  const { ends, run } = work();
  const read = coalesced(run);
  const first = read();
  const others = [read(), read(), read()];
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await first;
  await Promise.resolve();
  ends[1]?.();
  await Promise.all(others);
  expect(ends).toHaveLength(2);
});

test('a failed run does not stop the one that follows', async () => {
  let runs = 0;
  const read = coalesced(async () => {
    runs += 1;
    if (runs === 1) throw new Error('first');
  });
  const first = read();
  const second = read();
  await expect(first).rejects.toThrow('first');
  await second;
  expect(runs).toBe(2);
});

test('calls after the end start again', async () => {
  let runs = 0;
  const read = coalesced(async () => void (runs += 1));
  await read();
  await read();
  expect(runs).toBe(2);
});
