import { renameSync, rmSync } from 'node:fs';
import type { ScannerApp } from './scanner_app.ts';
import { writeQrVideo } from './qr_video.ts';

/** Long enough for a busy machine to see it. */
const IN_VIEW_SECONDS = 4;
/** Long enough for a code to count again when the video begins anew. */
const OUT_OF_VIEW_SECONDS = 2;

/** A camera that shows a code, goes dark, and shows it again. */
export class FakeCamera {
  constructor(readonly file: string) {}

  /** Whoever opens the camera from now on sees it. */
  async hold(text: string): Promise<void> {
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
  }

  remove(): void {
    rmSync(this.file, { force: true });
  }
}
