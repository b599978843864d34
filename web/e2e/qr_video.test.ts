import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from './fixtures.ts';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { writeQrVideo } from './qr_video.ts';

const BARCODES = new URL('../../contracts/barcodes.json', import.meta.url);

test('a video shows each code for its time, with a blank after it', async ({}, info) => {
  const [first, second] = (
    JSON.parse(readFileSync(BARCODES, 'utf8')) as { good: { text: string }[] }
  ).good;
  const file = info.outputPath('codes.y4m');
  const codes = [first, second].map((code) => ({ text: code?.text ?? '', seconds: 0.3 }));
  await writeQrVideo(file, codes, 0.2);
  const blank = [null, null];
  const shown = codes.flatMap(({ text }) => [text, text, text, ...blank]);
  expect(await textsOf(readFileSync(file))).toEqual(shown);
});

async function textsOf(video: Buffer): Promise<(string | null)[]> {
  await loadReader();
  const head = video.subarray(0, video.indexOf('\n') + 1).toString();
  const [, width, height] = (/ W(\d+) H(\d+) /.exec(head) ?? []).map(Number);
  if (!width || !height) throw new Error(`no video: ${head}`);
  const frameBytes = 'FRAME\n'.length + (width * height * 3) / 2;
  const texts: (string | null)[] = [];
  for (let at = head.length; at < video.length; at += frameBytes) {
    const luma = video.subarray(at + 'FRAME\n'.length, at + 'FRAME\n'.length + width * height);
    const data = new Uint8ClampedArray(4 * luma.length);
    luma.forEach((value, pixel) => data.set([value, value, value, 255], 4 * pixel));
    const [found] = await readBarcodes({ data, width, height, colorSpace: 'srgb' });
    texts.push(found?.text ?? null);
  }
  return texts;
}

function loadReader() {
  const file = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'));
  const wasmBinary = new Uint8Array(readFileSync(file)).buffer;
  return prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
}
