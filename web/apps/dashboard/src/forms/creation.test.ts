import { ApiError } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { Creation } from './creation.svelte.ts';

test('an answer that was lost is asked for again, another thing is another', async () => {
  const keys: string[] = [];
  let isLost = true;
  const creation = new Creation(
    () => ({ name: '' }),
    async (fields, key) => {
      keys.push(key);
      if (isLost) throw ApiError.network();
      return fields.name;
    },
  );
  creation.fields.name = 'North';
  await expect(creation.create()).rejects.toThrow();
  isLost = false;
  expect(await creation.create()).toBe('North');
  expect(creation.fields.name).toBe('');
  creation.fields.name = 'North';
  await creation.create();
  creation.fields.name = 'South';
  await creation.create();
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(new Set(keys).size).toBe(3);
});
