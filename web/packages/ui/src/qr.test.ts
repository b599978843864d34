/// <reference types="node" />
import { readFile } from 'node:fs/promises';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { expect, test } from 'vitest';
import { BYTES_MAX, qrModules, SIZE } from './qr.ts';

const PIXELS = 4;
const QUIET = 4;

function picture(modules: boolean[][]): ImageData {
  const side = (SIZE + 2 * QUIET) * PIXELS;
  const data = new Uint8ClampedArray(side * side * 4).fill(255);
  modules.forEach((row, down) =>
    row.forEach((isDark, right) => {
      if (!isDark) return;
      for (let y = 0; y < PIXELS; y += 1) {
        for (let x = 0; x < PIXELS; x += 1) {
          const at = ((down + QUIET) * PIXELS + y) * side + (right + QUIET) * PIXELS + x;
          data.fill(0, at * 4, at * 4 + 3);
        }
      }
    }),
  );
  return { data, width: side, height: side, colorSpace: 'srgb' } as ImageData;
}

async function read(modules: boolean[][]): Promise<string | undefined> {
  const wasm = await readFile(new URL(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm')));
  await prepareZXingModule({ overrides: { wasmBinary: wasm.buffer as ArrayBuffer } });
  const found = await readBarcodes(picture(modules), { formats: ['QRCode'] });
  return found[0]?.text;
}

test.each([
  ['what a device shows of itself', '0123456789abcdef'.repeat(4)],
  ['a short text', 'a'],
  ['as much as it takes', 'é'.repeat(BYTES_MAX / 2)],
])('%s is read as it was written', async (_name, text) => {
  expect(await read(qrModules(text))).toBe(text);
});

test('more than it takes is refused', () => {
  expect(() => qrModules('x'.repeat(BYTES_MAX + 1))).toThrow(RangeError);
});
