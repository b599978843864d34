import { StorageFull, type SyncReport, type SyncStatus } from '@voelgoed/device';
import { expect, test, vi } from 'vitest';
import { QueueView } from './queue_view.svelte.ts';
import { aScan } from './testing.ts';

const A_FILE = { content: new Blob(['{}']), scans: 1, isImportable: true };

function aReport(changes: Partial<SyncReport> = {}): SyncReport {
  const nothing = { synced: 0, failed: 0, left: 0, requests: 1, conflicts: [], unverified: [] };
  return { ...nothing, reason: null, ...changes };
}

function aQueue(report = aReport()) {
  const device = {
    queue: vi.fn(async (status?: SyncStatus) => [aScan({ sync_status: status ?? 'pending' })]),
    sync: vi.fn(async () => report),
    syncWhole: vi.fn(async () => report),
    retry: vi.fn(async () => undefined),
    discard: vi.fn(async () => undefined),
    retryAll: vi.fn(async () => undefined),
    exportFiles: vi.fn(async () => [A_FILE]),
    hurry: vi.fn(),
  };
  return { device, view: new QueueView(device) };
}

test('shows waiting, refused and discarded scans', async () => {
  const { view } = aQueue();
  await view.read();
  expect([view.pending, view.failed, view.discarded].map((list) => list[0]?.sync_status)).toEqual([
    'pending',
    'failed',
    'discarded',
  ]);
});

test('sending now does not wait for a retry, and shows the result', async () => {
  const { device, view } = aQueue(aReport({ synced: 3, failed: 1 }));
  await view.sync();
  expect(device.hurry).toHaveBeenCalledOnce();
  expect(view.report).toMatchObject({ synced: 3, failed: 1 });
  expect(view.problem).toBeNull();
});

test('sending now in a pause between two tries shortens the pause, and shows no error', async () => {
  const { device, view } = aQueue(aReport({ left: 3, reason: 'sending' }));
  await view.sync();
  expect(device.hurry).toHaveBeenCalledOnce();
  expect([view.problem, view.report]).toEqual([null, null]);
});

test('recovering the whole queue while it is sent asks to try again', async () => {
  const { view } = aQueue(aReport({ left: 3, reason: 'sending' }));
  await view.syncWhole();
  expect(view.problem).toEqual({ code: 'sending', said: null });
});

test('scans that were left behind are shown with their reason', async () => {
  const { view } = aQueue(aReport({ left: 5, reason: 'server_away' }));
  await view.sync();
  expect(view.problem).toEqual({ code: 'server_away', said: null });
});

test('an unforeseen reason is shown in the server’s words', async () => {
  const { view } = aQueue(aReport({ left: 5, reason: 'tea_time' }));
  await view.syncWhole();
  expect(view.problem).toEqual({ code: 'refused', said: 'tea_time' });
});

test('nothing is discarded without a reason', async () => {
  const { device, view } = aQueue();
  expect(await view.discard('a', '  ')).toBe(false);
  expect(device.discard).not.toHaveBeenCalled();
  expect(await view.discard('a', ' sent by hand ')).toBe(true);
  expect(device.discard).toHaveBeenCalledWith(['a'], 'sent by hand');
});

test('a scan that is to be sent again is sent at once', async () => {
  const { device, view } = aQueue();
  await view.retry('a');
  expect(device.retry).toHaveBeenCalledWith(['a']);
  await view.retryAll();
  expect(device.retryAll).toHaveBeenCalledOnce();
  expect(device.sync).toHaveBeenCalledTimes(2);
});

test('an export that fails gives no file and shows the reason', async () => {
  const { device, view } = aQueue();
  expect(await view.export()).toEqual([A_FILE]);
  device.exportFiles.mockRejectedValueOnce(new StorageFull());
  expect(await view.export()).toEqual([]);
  expect(view.problem?.code).toBe('storage_full');
});

test('two things at a time are one', async () => {
  const { device, view } = aQueue();
  await Promise.all([view.sync(), view.sync()]);
  expect(device.sync).toHaveBeenCalledOnce();
});
