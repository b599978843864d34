import type { DeniedReason } from '@voelgoed/api';

/** Turned away because the ticket had been in already, as the server has it. */
const DUPLICATES: ReadonlySet<DeniedReason> = new Set<DeniedReason>([
  'ticket_already_used',
  'already_scanned',
  'reentry_not_allowed',
  'exit_required',
  'entry_limit_reached',
  'daily_limit_reached',
]);

export function duplicatesOf(denied: [DeniedReason, number][]): number {
  return denied
    .filter(([reason]) => DUPLICATES.has(reason))
    .reduce((sum, [, count]) => sum + count, 0);
}
