/**
 * The other ways for a queue to leave a device: all at once, unsigned (`/api/scans/sync`), or as a file
 * that somebody imports.
 */
import { momentText } from '@voelgoed/rules';
import { MICROSECONDS_PER_MS } from './clock.ts';
import type { Core } from './core.ts';
import { compareClocks } from './heartbeat.ts';
import { readExportable } from './kept.ts';
import { askOnce, mayAskAgain } from './keys.ts';
import { offsetMsOf } from './ledger.ts';
import { require } from './link.ts';
import type { Exportable, ExportedFile, LoggedScan, SyncReport } from './model.ts';
import { PRESENTED_MAX } from './scanning.ts';
import { fits, isFlag, isMoment, isText, listOf, orNothing, shaped } from './shapes.ts';
import { alone, sameClock, showProgress, told as toldSigned } from './sync.ts';
import { firstOf } from './texts.ts';

const SYNC = '/api/scans/sync';
const TOGETHER_MAX = 1_000;
/** Scans in a file: as many as are imported at once. */
const EXPORTED_MAX = 10_000;

interface Kept {
  offline_id: string;
  reason: string;
  is_kept: boolean;
  /** Why somebody has to review it before it counts. */
  unverified?: string | null;
}

const readKept = shaped<Kept>({
  offline_id: isText,
  reason: isText,
  is_kept: isFlag,
  unverified: orNothing(isText),
});
const readAnswer = shaped<{ errors: Kept[]; timestamp: string }>({
  errors: listOf(fits(readKept)),
  timestamp: isMoment,
});

/**
 * For recovery, so also of what was refused when it was sent signed. The server measures the clock that
 * the scans were read from.
 */
export async function syncWhole(core: Core): Promise<SyncReport> {
  return await alone(core, async (report) => {
    await compareClocks(core);
    await core.ledger.retryAll();
    await core.recount();
    for (;;) {
      showProgress(core, report);
      const scans = sameClock(await core.store.scans('pending', TOGETHER_MAX));
      if (scans.length === 0) return;
      await bring(core, scans, report);
    }
  });
}

async function bring(core: Core, scans: LoggedScan[], report: SyncReport): Promise<void> {
  const offsetMs = offsetMsOf(scans[0] as LoggedScan);
  const shown = core.shownBy(await core.ledger.read(), offsetMs);
  const body = JSON.stringify({
    batch_id: crypto.randomUUID(),
    device_id: core.keyed.device_id,
    batch_created_at: momentText(shown * MICROSECONDS_PER_MS),
    scans: scans.map(toldUnsigned),
    batch_size: scans.length,
  });
  report.requests += 1;
  const answered = await askOnce(core, { method: 'POST', path: SYNC, body }, offsetMs);
  if (await mayAskAgain(core, answered)) return;
  const { errors, timestamp } = require(answered, 200).read(readAnswer);
  const lost = new Map(
    errors.filter((each) => !each.is_kept).map((each) => [each.offline_id, each.reason]),
  );
  const scanIds = scans.map((scan) => scan.scan_id);
  await core.ledger.change(
    scanIds,
    (scan) => settled(scan, lost.get(scan.scan_id), timestamp),
    (tx) => tx.forget('outgoing'),
  );
  for (const { offline_id, unverified } of errors) {
    if (unverified) report.unverified.push({ scan_id: offline_id, reason: unverified });
  }
  report.failed += lost.size;
  report.synced += scans.length - lost.size;
}

function toldUnsigned(scan: LoggedScan): object {
  return {
    ticket_code: firstOf(scan.barcode, PRESENTED_MAX).replaceAll('\0', ' '),
    scanned_at: scan.scanned_at,
    offline_id: scan.scan_id,
    gate_id: scan.gate_id,
    direction: scan.direction,
    outcome: scan.outcome,
  };
}

function settled(scan: LoggedScan, reason: string | undefined, at: string): LoggedScan {
  if (reason !== undefined) return { ...scan, sync_status: 'failed', last_error: reason };
  return { ...scan, sync_status: 'synced', synced_at: at, last_error: null };
}

/**
 * What the server does not have, for somebody to import; it stays here too. As many files as it takes.
 * What this version of the app cannot read is in one of its own, for it would spoil the others.
 */
export async function exportFiles(core: Core): Promise<ExportedFile[]> {
  const rows = await core.store.rowsWaiting();
  const scans = rows.map(readExportable).filter((scan) => scan !== null);
  const others = rows.filter((row) => readExportable(row) === null);
  scans.sort((one, other) => one.place - other.place);
  const files: ExportedFile[] = [];
  for (let from = 0; from < scans.length; from += EXPORTED_MAX) {
    files.push(importable(core, scans.slice(from, from + EXPORTED_MAX)));
  }
  if (others.length === 0) return files;
  const content = written(core, { unreadable: others });
  return [...files, { content, scans: others.length, isImportable: false }];
}

function importable(core: Core, scans: Exportable[]): ExportedFile {
  const told = scans.map((scan) => ({ ...toldSigned(scan), offset_seconds: offsetSeconds(scan) }));
  return { content: written(core, { scans: told }), scans: scans.length, isImportable: true };
}

function offsetSeconds(scan: Exportable): number {
  return offsetMsOf(scan) / 1_000;
}

function written(core: Core, what: object): Blob {
  const { device_id } = core.paired;
  const document = { device_id, exported_at: momentText(core.now()), ...what };
  return new Blob([JSON.stringify(document, null, 2), '\n'], { type: 'application/json' });
}
