import { ApiError } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { FormState } from './form_state.svelte.ts';

function refusing(...paths: string[]): () => Promise<never> {
  const faults = paths.map((path) => ({ path, message: `Fault of ${path}` }));
  return async () => {
    throw new ApiError('invalid_request', 'Faults.', { faults }, 422);
  };
}

test('what was taken has no problem', async () => {
  const form = new FormState();
  await form.submit(refusing('name'));
  expect(await form.submit(async () => undefined)).toBe(true);
  expect([form.problem, form.fault('name')]).toEqual([undefined, undefined]);
});

test('a fault is told at the field it is about, however deep it lies', async () => {
  const form = new FormState();
  expect(await form.submit(refusing('$.name', 'prices[0].amount_minor', 'days.0'))).toBe(false);
  expect(form.problem?.code).toBe('invalid_request');
  expect(form.fault('name')).toBe('Fault of $.name');
  expect(form.fault('prices')).toBe('Fault of prices[0].amount_minor');
  expect(form.fault('days')).toBe('Fault of days.0');
  expect(form.fault('day')).toBeUndefined();
});

test('a second click while the first is under way sends nothing', async () => {
  const form = new FormState();
  let sent = 0;
  let finish = (): void => undefined;
  const first = form.submit(async () => {
    sent += 1;
    await new Promise<void>((resolve) => (finish = resolve));
  });
  expect(await form.submit(async () => (sent += 1))).toBe(false);
  finish();
  expect([await first, sent, form.isBusy]).toEqual([true, 1, false]);
});
