import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, test } from './scanner_fixtures.ts';
import { readQr } from './qr_reader.ts';
import { qrVideo } from './qr_video.ts';

const BARCODES = new URL('../../contracts/barcodes.json', import.meta.url);

test('a video shows each code for its time, with a blank after it', async () => {
  const [first, second] = (
    JSON.parse(readFileSync(BARCODES, 'utf8')) as { good: { text: string }[] }
  ).good;
  const codes = [first, second].map((code) => ({ text: code?.text ?? '', seconds: 0.3 }));
  const video = await qrVideo(codes, 0.2);
  const blank = [null, null];
  const shown = codes.flatMap(({ text }) => [text, text, text, ...blank]);
  expect(await textsOf(video)).toEqual(shown);
});

test('who opens the camera while another page has it sees what is shown now', async ({
  camera,
  context,
  page,
}) => {
  await camera.hold('the first');
  await openCamera(page);
  await expect.poll(() => seenBy(page)).toBe('the first');
  await camera.hold('the second');
  const other = await context.newPage();
  await openCamera(other);
  const seen = new Set<string>();
  await expect
    .poll(() => seenBy(other).then((text) => (text && seen.add(text), text)))
    .toBe('the second');
  expect([...seen]).toEqual(['the second']);
});

async function openCamera(page: Page): Promise<void> {
  await page.goto('/scanner/');
  await page.evaluate(async () => {
    const video = document.createElement('video');
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
    document.body.append(video);
    await video.play();
  });
}

async function seenBy(page: Page): Promise<string | null> {
  const picture = await page.evaluate(() => {
    const video = document.querySelector('video')!;
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    canvas.getContext('2d')!.drawImage(video, 0, 0);
    return canvas.toDataURL().replace(/^.*,/, '');
  });
  return readQr(Buffer.from(picture, 'base64'));
}

async function textsOf(video: Buffer): Promise<(string | null)[]> {
  const head = video.subarray(0, video.indexOf('\n') + 1).toString();
  const [, width, height] = (/ W(\d+) H(\d+) /.exec(head) ?? []).map(Number);
  if (!width || !height) throw new Error(`no video: ${head}`);
  const frameBytes = 'FRAME\n'.length + (width * height * 3) / 2;
  const texts: (string | null)[] = [];
  for (let at = head.length; at < video.length; at += frameBytes) {
    const luma = video.subarray(at + 'FRAME\n'.length, at + 'FRAME\n'.length + width * height);
    const data = new Uint8ClampedArray(4 * luma.length);
    luma.forEach((value, pixel) => data.set([value, value, value, 255], 4 * pixel));
    texts.push(await readQr({ data, width, height, colorSpace: 'srgb' }));
  }
  return texts;
}
