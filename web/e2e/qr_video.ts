import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { prepareZXingModule, writeBarcode } from 'zxing-wasm/writer';

const FRAMES_PER_SECOND = 10;
const WIDTH = 480;
const HEIGHT = 360;
const QUIET_MODULES = 4;
const GREY = 128;
const BLANK_SECONDS = 1;

let loading: Promise<unknown> | undefined;

export interface Shown {
  /** null: nothing but grey. */
  text: string | null;
  seconds: number;
}

/** What a browser needs to be started with to see the video as its camera, over and over. */
export function cameraArguments(file: string): string[] {
  return [
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-video-capture=${file}`,
  ];
}

/** A `.y4m` that shows one code after the other, with a blank after each. */
export async function qrVideo(
  codes: readonly Shown[],
  blankSeconds = BLANK_SECONDS,
): Promise<Buffer> {
  const parts: Buffer[] = [
    Buffer.from(`YUV4MPEG2 W${WIDTH} H${HEIGHT} F${FRAMES_PER_SECOND}:1 Ip A1:1 C420jpeg\n`),
  ];
  for (const { text, seconds } of codes) {
    parts.push(...repeated(await qrFrame(text), seconds));
    parts.push(...repeated(await qrFrame(null), blankSeconds));
  }
  return Buffer.concat(parts);
}

function repeated(frame: Buffer, seconds: number): Buffer[] {
  return Array.from({ length: Math.round(seconds * FRAMES_PER_SECOND) }, () => frame);
}

async function qrFrame(text: string | null): Promise<Buffer> {
  const luma = Buffer.alloc(WIDTH * HEIGHT, GREY);
  if (text !== null) await drawQr(luma, text);
  const noColour = Buffer.alloc((WIDTH * HEIGHT) / 2, GREY);
  return Buffer.concat([Buffer.from('FRAME\n'), luma, noColour]);
}

async function drawQr(luma: Buffer, text: string): Promise<void> {
  await loadWriter();
  const { symbol, error } = await writeBarcode(text, { format: 'QRCode', addQuietZones: false });
  if (error) throw new Error(`no QR code of ${text}: ${error}`);
  const modules = symbol.width + 2 * QUIET_MODULES;
  const scale = Math.floor(HEIGHT / modules);
  if (scale < 2) throw new Error(`${text} does not fit into ${HEIGHT} lines`);
  const left = Math.floor((WIDTH - modules * scale) / 2);
  const top = Math.floor((HEIGHT - modules * scale) / 2);
  for (let y = 0; y < modules * scale; y += 1) {
    for (let x = 0; x < modules * scale; x += 1) {
      const column = Math.floor(x / scale) - QUIET_MODULES;
      const row = Math.floor(y / scale) - QUIET_MODULES;
      const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < symbol.width;
      const value = isInside ? symbol.data[row * symbol.width + column] : 255;
      luma[(top + y) * WIDTH + left + x] = value ?? 255;
    }
  }
}

/** From the file beside it; by itself it would be fetched from elsewhere. */
function loadWriter(): Promise<unknown> {
  const file = fileURLToPath(import.meta.resolve('zxing-wasm/writer/zxing_writer.wasm'));
  loading ??= prepareZXingModule({
    overrides: { wasmBinary: new Uint8Array(readFileSync(file)).buffer },
    fireImmediately: true,
  });
  return loading;
}
