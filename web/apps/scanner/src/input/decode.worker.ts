import { prepareZXingModule, readBarcodes, type ReaderOptions } from 'zxing-wasm/reader';
import wasmUrl from 'zxing-wasm/reader/zxing_reader.wasm?url';
import type { DecodeAnswer } from './decoder.ts';
import { frameSize, sizeOf, type Frame } from './frame.ts';

const OPTIONS: ReaderOptions = {
  formats: ['QRCode'],
  tryInvert: true,
  // Twice the time for a few pictures more; the next frame is there sooner.
  tryHarder: false,
  maxNumberOfSymbols: 1,
  textMode: 'Plain',
};

// Left to itself it asks a server of somebody else for the file.
const ready = prepareZXingModule({
  overrides: { locateFile: () => wasmUrl },
  fireImmediately: true,
});
ready.then(
  () => answer({ kind: 'ready' }),
  () => answer({ kind: 'broken' }),
);

const canvas = new OffscreenCanvas(1, 1);
const context = canvas.getContext('2d', { willReadFrequently: true });

self.onmessage = async ({ data: frame }: MessageEvent<Frame>) => {
  const from = performance.now();
  const text = await read(frame).catch(() => null);
  answer({ kind: 'read', text, ms: performance.now() - from });
};

async function read(frame: Frame): Promise<string | null> {
  const { width, height } = frameSize(sizeOf(frame));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context?.drawImage(frame, 0, 0, width, height);
  frame.close();
  const picture = context?.getImageData(0, 0, width, height);
  if (!picture) return null;
  const [found] = await readBarcodes(picture, OPTIONS);
  return found?.isValid ? found.text : null;
}

function answer(message: DecodeAnswer): void {
  self.postMessage(message);
}
