import { expect, test } from 'vitest';
import { Once, OUT_OF_VIEW_AFTER_ANOTHER_MS, OUT_OF_VIEW_MS } from './once.ts';

const FRAME_MS = 33;

test('a code that is held before the camera for a minute counts once', () => {
  const once = new Once();
  let counted = 0;
  for (let at = 0; at < 60_000; at += FRAME_MS) if (once.counts('A', at)) counted += 1;
  expect(counted).toBe(1);
});

test('a code that is lost for less than the pause and found again counts once', () => {
  const once = new Once();
  expect(once.counts('A', 0)).toBe(true);
  expect(once.counts('A', OUT_OF_VIEW_MS - 1)).toBe(false);
  expect(once.counts('A', 2 * OUT_OF_VIEW_MS - 2)).toBe(false);
});

test('a code that was out of view counts again', () => {
  const once = new Once();
  once.counts('A', 0);
  expect(once.counts('A', OUT_OF_VIEW_MS)).toBe(true);
});

test('a code counts again sooner when another was read in between', () => {
  const once = new Once();
  once.counts('A', 0);
  expect(once.counts('B', FRAME_MS)).toBe(true);
  expect(once.counts('A', OUT_OF_VIEW_AFTER_ANOTHER_MS)).toBe(true);
});

test('two codes in one picture, read in turns, count once each', () => {
  const once = new Once();
  const counted: string[] = [];
  for (let frame = 0; frame < 1_000; frame += 1) {
    const text = frame % 2 === 0 ? 'A' : 'B';
    if (once.counts(text, frame * FRAME_MS)) counted.push(text);
  }
  expect(counted).toEqual(['A', 'B']);
});

test('a code in view counts again when somebody asks for it', () => {
  const once = new Once();
  once.counts('A', 0);
  once.forget();
  expect(once.counts('A', FRAME_MS)).toBe(true);
});
