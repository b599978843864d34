import { StorageFull, type LoggedScan, type ScanAnswer } from '@voelgoed/device';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Scanning, SEEN_MS_MIN } from './scanning.svelte.ts';
import { anAnswer, aScan } from './testing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function aGate() {
  const answers: ((answer: ScanAnswer) => void)[] = [];
  const device = {
    scan: vi.fn(
      (_text: string, _direction: 'entry' | 'exit') =>
        new Promise<ScanAnswer>((resolve) => answers.push(resolve)),
    ),
    practise: vi.fn(async () => anAnswer()),
    recent: vi.fn(async () => [aScan()]),
  };
  const feedback = vi.fn();
  let direction: 'entry' | 'exit' = 'entry';
  const scanning = new Scanning(device, () => direction, feedback);
  return { device, feedback, scanning, answers, turn: (to: 'entry' | 'exit') => (direction = to) };
}

const shownId = (scanning: Scanning) => {
  const { current } = scanning.verdict;
  return current?.kind === 'answer' ? current.answer.scan_id : null;
};

test('what is read is asked, shown, heard and listed', async () => {
  const { device, feedback, scanning, answers } = aGate();
  const done = scanning.present('one');
  await vi.advanceTimersByTimeAsync(0);
  expect(scanning.isChecking).toBe(true);
  answers[0]?.(anAnswer({ scan_id: 'a' }));
  await done;
  expect(shownId(scanning)).toBe('a');
  expect(feedback).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(0);
  expect(scanning.recent).toHaveLength(1);
  expect(device.scan).toHaveBeenCalledWith('one', 'entry');
});

test('the next ticket interrupts a verdict at once', async () => {
  const { scanning, device, answers } = aGate();
  const first = scanning.present('one');
  await vi.advanceTimersByTimeAsync(0);
  answers[0]?.(anAnswer());
  await first;
  void scanning.present('two');
  await vi.advanceTimersByTimeAsync(0);
  expect(device.scan).toHaveBeenCalledTimes(2);
  expect(scanning.verdict.current).toBeNull();
  expect(scanning.isChecking).toBe(true);
});

test('a ticket that comes while another is asked waits until that verdict was seen', async () => {
  const { scanning, device, answers } = aGate();
  void scanning.present('one');
  const second = scanning.present('two');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(device.scan).toHaveBeenCalledOnce();
  answers[0]?.(anAnswer({ scan_id: 'a' }));
  await vi.advanceTimersByTimeAsync(SEEN_MS_MIN - 1);
  expect(shownId(scanning)).toBe('a');
  expect(device.scan).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(1);
  answers[1]?.(anAnswer({ scan_id: 'b' }));
  await second;
  expect(shownId(scanning)).toBe('b');
});

test('a list that is being read is read once more, however many ask for it', async () => {
  const { scanning, device } = aGate();
  const reads: ((scans: LoggedScan[]) => void)[] = [];
  device.recent.mockImplementation(() => new Promise((resolve) => reads.push(resolve)));
  void scanning.readRecent();
  await vi.advanceTimersByTimeAsync(0);
  const asked = [scanning.readRecent(), scanning.readRecent()];
  reads[0]?.([]);
  await vi.advanceTimersByTimeAsync(0);
  reads[1]?.([aScan({ scan_id: 'new' })]);
  await Promise.all(asked);
  expect(device.recent).toHaveBeenCalledTimes(2);
  expect(scanning.recent.map((scan) => scan.scan_id)).toEqual(['new']);
});

test('the direction is that of the moment at which it was read', async () => {
  const { scanning, device, turn } = aGate();
  turn('exit');
  void scanning.present('one');
  turn('entry');
  await vi.advanceTimersByTimeAsync(0);
  expect(device.scan).toHaveBeenCalledWith('one', 'exit');
});

test('practice asks the device for its opinion and records nothing', async () => {
  const { scanning, device } = aGate();
  scanning.isPractice = true;
  await scanning.present('one');
  expect(device.practise).toHaveBeenCalledWith('one', 'entry');
  expect(device.scan).not.toHaveBeenCalled();
  expect(device.recent).not.toHaveBeenCalled();
  expect(scanning.verdict.current).toMatchObject({ kind: 'answer', isPractice: true });
});

test('a scan that could not be kept lets nobody in, and the next one is asked all the same', async () => {
  const { scanning, device, answers } = aGate();
  device.scan.mockRejectedValueOnce(new StorageFull());
  await scanning.present('one');
  expect(scanning.verdict.current).toEqual({
    kind: 'problem',
    problem: { code: 'storage_full', said: null },
  });
  const next = scanning.present('two');
  await vi.advanceTimersByTimeAsync(0);
  answers[0]?.(anAnswer({ scan_id: 'b' }));
  await next;
  expect(shownId(scanning)).toBe('b');
});
