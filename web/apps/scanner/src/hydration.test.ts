import { ForgedManifest, KeyRefused } from '@voelgoed/device';
import { expect, test, vi } from 'vitest';
import { Hydration } from './hydration.svelte.ts';

type Progress = (received: number, total: number | null) => void;

test('shows the progress, then the verification, then the result', async () => {
  let finish: (isNew: boolean) => void = () => undefined;
  let progress: Progress = () => undefined;
  const hydrate = vi.fn((onProgress?: Progress) => {
    progress = onProgress ?? progress;
    return new Promise<boolean>((resolve) => (finish = resolve));
  });
  const hydration = new Hydration({ hydrate });
  const done = hydration.fetch();
  void hydration.fetch();
  progress(50, 100);
  expect(hydration).toMatchObject({ isFetching: true, received: 50, total: 100 });
  expect(hydration.isVerifying).toBe(false);
  progress(100, 100);
  expect(hydration.isVerifying).toBe(true);
  finish(true);
  await done;
  expect(hydration).toMatchObject({ isFetching: false, result: 'fetched', problem: null });
  expect(hydrate).toHaveBeenCalledOnce();
});

test('an unknown length is no length', async () => {
  const hydration = new Hydration({
    hydrate: async (onProgress) => {
      onProgress?.(10, null);
      return false;
    },
  });
  await hydration.fetch();
  expect(hydration).toMatchObject({ received: 10, total: null, result: 'newest' });
});

test.each([
  ['signature', 'forged_manifest'],
  ['another_event', 'manifest_of_another_event'],
  ['older', 'manifest_too_old'],
] as const)('a manifest that is refused for its %s says so', async (kind, code) => {
  const hydration = new Hydration({ hydrate: () => Promise.reject(new ForgedManifest(kind)) });
  await hydration.fetch();
  expect(hydration.problem?.code).toBe(code);
});

test('failures of automatic fetches are shown too, except refusals of the key', () => {
  const hydration = new Hydration({ hydrate: async () => true });
  hydration.fail(new KeyRefused('revoked'));
  expect(hydration.problem).toBeNull();
  hydration.fail(new ForgedManifest('signature'));
  expect(hydration.problem?.code).toBe('forged_manifest');
});
