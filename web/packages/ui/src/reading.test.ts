import { ApiError } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { Reading } from './reading.svelte.ts';

test('what was read stays when a later reading fails, and the next one mends it', async () => {
  let isDown = false;
  let count = 0;
  const reading = new Reading(async () => {
    if (isDown) throw ApiError.network();
    return (count += 1);
  });
  await reading.load();
  isDown = true;
  await reading.load();
  expect([reading.status, reading.value, reading.problem?.code]).toEqual(['ready', 1, 'network']);
  isDown = false;
  await reading.load();
  expect([reading.value, reading.problem]).toEqual([2, undefined]);
});

test('what could never be read has failed', async () => {
  const reading = new Reading(async () => Promise.reject(ApiError.network()));
  await reading.load();
  expect([reading.status, reading.value]).toEqual(['failed', undefined]);
});
