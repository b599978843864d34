import { renameSync, rmSync } from 'node:fs';
import { OUT_OF_VIEW_MS } from '../apps/scanner/src/input/once.ts';
import type { ScannerApp } from './scanner_app.ts';
import { writeQrVideo } from './qr_video.ts';

/** A busy machine that does not see it the first time sees it when the video begins anew. */
const IN_VIEW_SECONDS = 1;
/** Long enough for a code to count again when the video begins anew. */
const OUT_OF_VIEW_SECONDS = 2;

/** A camera that shows a code, goes dark, and shows it again. */
export class FakeCamera {
  constructor(readonly file: string) {}

  /** Whoever opens the camera from now on sees it. */
  async hold(text: string): Promise<void> {
    await this.#show(text);
  }

  /** No code is before the camera, so that no verdict covers the page. */
  async holdNothing(): Promise<void> {
    await this.#show(null);
  }

  async #show(text: string | null): Promise<void> {
    const unfinished = `${this.file}.new`;
    await writeQrVideo(unfinished, [{ text, seconds: IN_VIEW_SECONDS }], OUT_OF_VIEW_SECONDS);
    renameSync(unfinished, this.file);
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

  remove(): void {
    rmSync(this.file, { force: true });
  }
}
