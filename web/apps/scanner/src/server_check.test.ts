import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServerCheck } from './server_check.svelte.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('tells that the server answers, no longer answers, and answers again', async () => {
  const ask = vi.fn(async (_signal: AbortSignal) => ({ ok: true }));
  const check = new ServerCheck(ask);
  expect(check.reach).toBe('checking');
  const stop = check.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(check.reach).toBe('reachable');

  ask.mockRejectedValueOnce(new TypeError('Failed to fetch'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(check.reach).toBe('unreachable');

  await vi.advanceTimersByTimeAsync(5_000);
  expect(check.reach).toBe('reachable');
  stop();
});

test('an answer that is none counts as unreachable', async () => {
  const check = new ServerCheck(async () => ({ ok: false }));
  await check.now();
  expect(check.reach).toBe('unreachable');
});

test('does not ask twice at a time, nor after it was stopped', async () => {
  let answer: (response: { ok: boolean }) => void = () => undefined;
  const ask = vi.fn(() => new Promise<{ ok: boolean }>((resolve) => (answer = resolve)));
  const check = new ServerCheck(ask);
  const stop = check.start();
  void check.now();
  expect(ask).toHaveBeenCalledOnce();
  stop();
  answer({ ok: true });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ask).toHaveBeenCalledOnce();
});
