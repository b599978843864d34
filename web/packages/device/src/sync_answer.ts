/** What the server says of a batch, and what that makes of its scans. */
import { momentText, parseMoment } from '@voelgoed/rules';
import type { LoggedScan, Unverified } from './model.ts';
import { fits, isMoment, isNumber, isText, listOf, orNothing, shaped } from './shapes.ts';

interface Rejected {
  scan_id: string;
  error: string;
  message: string;
}

/** Of the server's answer, what a device needs. */
export interface Synced {
  processed: string[];
  skipped: string[];
  rejected: Rejected[];
  conflicts: { scan_id: string }[];
  unverified?: Unverified[] | null;
  offset_seconds: number;
  server_time: string;
}

const readRejected = shaped<Rejected>({ scan_id: isText, error: isText, message: isText });
const readConflict = shaped<{ scan_id: string }>({ scan_id: isText });
const readUnverified = shaped<Unverified>({ scan_id: isText, reason: isText });

export const readSynced = shaped<Synced>({
  processed: listOf(isText),
  skipped: listOf(isText),
  rejected: listOf(fits(readRejected)),
  conflicts: listOf(fits(readConflict)),
  unverified: orNothing(listOf(fits(readUnverified))),
  offset_seconds: isNumber,
  server_time: isMoment,
});

/** Sent in vain. */
export function again(scan: LoggedScan, error: string): LoggedScan {
  return { ...scan, retry_count: scan.retry_count + 1, last_error: error };
}

/** Sent, and this very scan was not wanted as it is. */
export function refused(scan: LoggedScan, error: string): LoggedScan {
  return { ...again(scan, error), refusal_count: scan.refusal_count + 1 };
}

export function acknowledged(scan: LoggedScan, answer: Synced): LoggedScan {
  const at = parseMoment(scan.scanned_at) + Math.round(answer.offset_seconds * 1e6);
  const isProcessed = answer.processed.includes(scan.scan_id);
  return {
    ...scan,
    sync_status: 'synced',
    synced_at: answer.server_time,
    scanned_at_corrected: isProcessed ? momentText(at) : scan.scanned_at_corrected,
    last_error: null,
  };
}
