import { StorageFull, type LoggedScan, type ScanAnswer } from '@voelgoed/device';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OUT_OF_VIEW_MS } from './input/once.ts';
import { Scanning, SEEN_MS_MIN } from './scanning.svelte.ts';
import { anAnswer, aScan } from './testing.ts';
import { problem } from './troubles.ts';

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

test('a read code is sent, shown, announced and listed', async () => {
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

test('a ticket that comes while another is being decided waits until that verdict was seen', async () => {
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

/** It takes time and the server's answer until a ticket is decided about. */
async function decided(scanning: Scanning, answers: ((answer: ScanAnswer) => void)[]) {
  await vi.advanceTimersByTimeAsync(0);
  answers.at(-1)?.(anAnswer());
  await vi.advanceTimersByTimeAsync(0);
  expect(scanning.verdict.current).not.toBeNull();
}

test('a hand scanner that reads a ticket twice makes one scan, and its verdict stays', async () => {
  const { scanning, device, answers } = aGate();
  void scanning.read('one');
  void scanning.read('one');
  await decided(scanning, answers);
  void scanning.read('one');
  await vi.advanceTimersByTimeAsync(OUT_OF_VIEW_MS - 1);
  void scanning.read('one');
  await vi.advanceTimersByTimeAsync(0);
  expect(device.scan).toHaveBeenCalledOnce();
  expect(scanning.verdict.current).not.toBeNull();
});

test('pulling the trigger again while the server is slow makes one scan', async () => {
  const { scanning, device, answers } = aGate();
  void scanning.read('one');
  await vi.advanceTimersByTimeAsync(2 * OUT_OF_VIEW_MS);
  void scanning.read('one');
  await decided(scanning, answers);
  expect(device.scan).toHaveBeenCalledOnce();
});

test('the same ticket counts again after a while, and at once in the other direction', async () => {
  const { scanning, device, answers, turn } = aGate();
  void scanning.read('one');
  await decided(scanning, answers);
  turn('exit');
  void scanning.read('one');
  await decided(scanning, answers);
  await vi.advanceTimersByTimeAsync(OUT_OF_VIEW_MS);
  void scanning.read('one');
  await decided(scanning, answers);
  expect(device.scan.mock.calls).toEqual([
    ['one', 'entry'],
    ['one', 'exit'],
    ['one', 'exit'],
  ]);
});

test('a code that is typed twice is sent twice', async () => {
  const { scanning, device, answers } = aGate();
  for (const times of [1, 2]) {
    void scanning.present('one');
    await decided(scanning, answers);
    expect(device.scan).toHaveBeenCalledTimes(times);
  }
});

test('hidden input is shown like a scan, with its sound', () => {
  const { scanning, feedback } = aGate();
  scanning.fail(problem('keys_hidden'));
  expect(scanning.verdict.current).toMatchObject({ problem: { code: 'keys_hidden' } });
  expect(feedback).toHaveBeenCalledOnce();
});

test('it is idle when no ticket waits and no verdict is shown', async () => {
  const { scanning, answers } = aGate();
  expect(scanning.isIdle).toBe(true);
  void scanning.present('one');
  expect(scanning.isIdle).toBe(false);
  await decided(scanning, answers);
  expect(scanning.isIdle).toBe(false);
  scanning.verdict.dismiss();
  expect(scanning.isIdle).toBe(true);
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

test('a scan that could not be stored lets nobody in, and the next one is decided all the same', async () => {
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
