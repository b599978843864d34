import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { OUT_OF_VIEW_MS } from '../apps/scanner/src/input/once.ts';
import type { ScannerApp } from './scanner_app.ts';
import { qrVideo } from './qr_video.ts';

/** A busy machine that does not see it the first time sees it when the video begins anew. */
const IN_VIEW_SECONDS = 1;
/** Long enough for a code to count again when the video begins anew. */
const OUT_OF_VIEW_SECONDS = 2;

/**
 * A camera that shows a code, goes dark, and shows it again.
 *
 * A browser may hand the camera of a page that is closing to the next page that asks, with the file it
 * has open. So the file is written over and never replaced, and its length never changes: whoever reads
 * it sees what is shown now.
 */
export class FakeCamera {
  private constructor(readonly file: string) {}

  /** It shows nothing yet. */
  static async at(file: string): Promise<FakeCamera> {
    const camera = new FakeCamera(file);
    await camera.holdNothing();
    return camera;
  }

  async hold(text: string): Promise<void> {
    await this.#show(text);
  }

  /** No code is before the camera, so that no verdict covers the page. */
  async holdNothing(): Promise<void> {
    await this.#show(null);
  }

  async #show(text: string | null): Promise<void> {
    const video = await qrVideo([{ text, seconds: IN_VIEW_SECONDS }], OUT_OF_VIEW_SECONDS);
    if (!existsSync(this.file)) return writeFileSync(this.file, video);
    const file = openSync(this.file, 'r+');
    writeSync(file, video);
    closeSync(file);
  }

  /** Held before the scanner until `isSeen`, with the camera switched on only for that. */
  async holdBefore(app: ScannerApp, text: string, isSeen: () => Promise<void>): Promise<void> {
    await this.hold(text);
    await app.page.getByRole('button', { name: 'Camera on' }).click();
    await isSeen();
    // A verdict may cover it; whoever is in a hurry presses Escape.
    await app.page.keyboard.press('Escape');
    await app.page.getByRole('button', { name: 'Camera off' }).click();
    // A busy machine may have seen it once more meanwhile.
    await app.isIdle();
    await app.passTime(OUT_OF_VIEW_MS);
  }
}
