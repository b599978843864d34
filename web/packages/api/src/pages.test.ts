import { expect, test } from 'vitest';
import { everyPage } from './pages.ts';

test('follows the cursor to the end', async () => {
  const asked: Array<string | undefined> = [];
  const items = await everyPage(async (after) => {
    asked.push(after);
    return after ? { data: [3], next: null } : { data: [1, 2], next: 'two' };
  });
  expect(items).toEqual([1, 2, 3]);
  expect(asked).toEqual([undefined, 'two']);
});

test('a cursor that never ends is not followed for ever', async () => {
  const items = await everyPage(async () => ({ data: ['again'], next: 'again' }));
  expect(items).toHaveLength(50);
});
