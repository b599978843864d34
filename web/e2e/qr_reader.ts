import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';

let loading: Promise<unknown> | undefined;

/** What the QR code in a picture says, null where there is none. */
export async function readQr(picture: Uint8Array | ImageData): Promise<string | null> {
  await loadReader();
  const [found] = await readBarcodes(picture);
  return found?.text ?? null;
}

/** From the file beside it; by itself it would be fetched from elsewhere. */
function loadReader(): Promise<unknown> {
  const file = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'));
  loading ??= prepareZXingModule({
    overrides: { wasmBinary: new Uint8Array(readFileSync(file)).buffer },
    fireImmediately: true,
  });
  return loading;
}
