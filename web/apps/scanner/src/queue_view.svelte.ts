import type { Device, ExportedFile, LoggedScan, SyncReport } from '@voelgoed/device';
import { problemOf, problemOfReason, type Problem } from './troubles.ts';

const SHOWN_MOST = 50;

export type Queue = Pick<
  Device,
  'queue' | 'sync' | 'syncWhole' | 'retry' | 'retryAll' | 'discard' | 'exportFiles' | 'hurry'
>;

/** The scans that the server does not have, as their page shows them. */
export class QueueView {
  pending = $state.raw<LoggedScan[]>([]);
  failed = $state.raw<LoggedScan[]>([]);
  discarded = $state.raw<LoggedScan[]>([]);
  report = $state.raw<SyncReport | null>(null);
  problem = $state.raw<Problem | null>(null);
  isBusy = $state(false);

  readonly #device: Queue;

  constructor(device: Queue) {
    this.#device = device;
  }

  async read(): Promise<void> {
    try {
      [this.pending, this.failed, this.discarded] = await Promise.all([
        this.#device.queue('pending', SHOWN_MOST),
        this.#device.queue('failed', SHOWN_MOST),
        this.#device.queue('discarded', SHOWN_MOST),
      ]);
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
  }

  async sync(): Promise<void> {
    this.#device.hurry();
    // Where it rested between two tries it was hurried, and goes on by itself.
    await this.#bring(
      () => this.#device.sync(),
      (reason) => reason !== 'sending',
    );
  }

  async syncWhole(): Promise<void> {
    await this.#bring(() => this.#device.syncWhole());
  }

  async retry(scanId: string): Promise<void> {
    await this.#do(() => this.#device.retry([scanId]));
    await this.sync();
  }

  /** Also of those that the page has no room for. */
  async retryAll(): Promise<void> {
    await this.#do(() => this.#device.retryAll());
    await this.sync();
  }

  /** False where no reason was given: nothing goes without one. */
  async discard(scanId: string, reason: string): Promise<boolean> {
    const said = reason.trim();
    if (said === '') return false;
    await this.#do(() => this.#device.discard([scanId], said));
    return true;
  }

  /** None where the server has everything, or something is wrong. */
  async export(): Promise<ExportedFile[]> {
    let files: ExportedFile[] = [];
    await this.#do(async () => void (files = await this.#device.exportFiles()));
    return files;
  }

  async #bring(
    bring: () => Promise<SyncReport>,
    isNews: (reason: string | null) => boolean = () => true,
  ): Promise<void> {
    await this.#do(async () => {
      this.report = null;
      const report = await bring();
      if (!isNews(report.reason)) return;
      this.report = report;
      if (report.reason !== null) this.problem = problemOfReason(report.reason);
    });
  }

  async #do(work: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.problem = null;
    try {
      await work();
    } catch (thrown) {
      this.problem = problemOf(thrown);
    }
    this.isBusy = false;
    await this.read();
  }
}
