/**
 * The other ways for a queue to leave a device: all at once, unsigned (`/api/scans/sync`), or as a file
 * that somebody imports.
 */
import { momentText } from '@voelgoed/rules';
import { MICROSECONDS_PER_MS } from './clock.ts';
import type { Core } from './core.ts';
import { compareClocks } from './heartbeat.ts';
import { askOnce, mayAskAgain } from './keys.ts';
import { offsetMsOf } from './ledger.ts';
import { require } from './link.ts';
import type { LoggedScan, SyncReport } from './model.ts';
import { PRESENTED_MAX } from './scanning.ts';
import { fits, isFlag, isMoment, isText, listOf, shaped } from './shapes.ts';
import { alone, sameClock, showProgress, told } from './sync.ts';

const SYNC = '/api/scans/sync';
const TOGETHER_MAX = 1_000;
/** As many as are imported at once. */
const EXPORTED_MAX = 10_000;

interface Kept {
  offline_id: string;
  reason: string;
  is_kept: boolean;
}

const readKept = shaped<Kept>({ offline_id: isText, reason: isText, is_kept: isFlag });
const readAnswer = shaped<{ errors: Kept[]; timestamp: string }>({
  errors: listOf(fits(readKept)),
  timestamp: isMoment,
});

/** For recovery. The server measures the clock that the scans were read from. */
export async function syncWhole(core: Core): Promise<SyncReport> {
  return await alone(core, async (report) => {
    await compareClocks(core);
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
  report.failed += lost.size;
  report.synced += scans.length - lost.size;
}

function toldUnsigned(scan: LoggedScan): object {
  return {
    ticket_code: scan.barcode.slice(0, PRESENTED_MAX).replaceAll('\0', ' '),
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

/** What the server does not have, for somebody to import. It stays here too. */
export async function exportQueue(core: Core, from: number): Promise<Blob> {
  const scans = (await core.store.waiting()).slice(from, from + EXPORTED_MAX);
  const document = {
    device_id: core.paired.device_id,
    exported_at: momentText(core.now()),
    scans: scans.map((scan) => ({ ...told(scan), offset_seconds: offsetMsOf(scan) / 1_000 })),
  };
  return new Blob([JSON.stringify(document, null, 2), '\n'], { type: 'application/json' });
}
