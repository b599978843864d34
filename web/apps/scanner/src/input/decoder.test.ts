import { expect, test, vi } from 'vitest';
import { DecoderBroken, startDecoder, type DecodeAnswer } from './decoder.ts';
import { frameSize } from './frame.ts';

class FakeWorker extends EventTarget {
  readonly terminate = vi.fn();
  readonly frames: unknown[] = [];
  postMessage(frame: unknown) {
    this.frames.push(frame);
  }
  answer(data: DecodeAnswer) {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
}

async function started() {
  const worker = new FakeWorker();
  const starting = startDecoder(() => worker as never);
  worker.answer({ kind: 'ready' });
  return { worker, decoder: await starting };
}

test('each frame gets its own answer', async () => {
  const { worker, decoder } = await started();
  for (const text of ['VG1A', null, 'VG1B']) {
    const reading = decoder.read({} as ImageBitmap);
    worker.answer({ kind: 'read', text, ms: 6 });
    expect(await reading).toEqual({ text, ms: 6 });
  }
  expect(worker.frames).toHaveLength(3);
});

test('a decoder that cannot be loaded is broken, and its worker is ended', async () => {
  for (const fault of ['broken', 'error'] as const) {
    const worker = new FakeWorker();
    const starting = startDecoder(() => worker as never);
    if (fault === 'broken') worker.answer({ kind: 'broken' });
    else worker.dispatchEvent(new Event('error'));
    await expect(starting).rejects.toBeInstanceOf(DecoderBroken);
    expect(worker.terminate).toHaveBeenCalledOnce();
  }
});

test('a worker that no longer answers is broken', async () => {
  const { decoder } = await started();
  vi.useFakeTimers();
  const reading = expect(decoder.read({} as ImageBitmap)).rejects.toBeInstanceOf(DecoderBroken);
  await vi.advanceTimersByTimeAsync(10_000);
  await reading;
  vi.useRealTimers();
});

test('a picture is made smaller where it is too large, upright or not, and never larger', () => {
  expect(frameSize({ width: 1_920, height: 1_080 })).toEqual({ width: 960, height: 540 });
  expect(frameSize({ width: 1_080, height: 1_920 })).toEqual({ width: 540, height: 960 });
  expect(frameSize({ width: 1_600, height: 1_200 })).toEqual({ width: 720, height: 540 });
  expect(frameSize({ width: 640, height: 480 })).toEqual({ width: 640, height: 480 });
});
