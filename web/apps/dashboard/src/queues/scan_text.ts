import type { ConflictingScan, RecoveredScan } from '@voelgoed/api';
import type { Messages } from '../messages/index.ts';

/** What was decided about a scan, in the light of all that is known. */
export function rulingText(
  words: Messages,
  { status, reason_denied }: Pick<ConflictingScan, 'status' | 'reason_denied'>,
): string {
  if (status === 'admitted') return words.queues.admitted;
  return reason_denied ? words.reasons[reason_denied] : words.queues.turnedAway;
}

/** What its place, its moment or its device has against a scan. */
export function doubtsText(
  { queues }: Messages,
  { doubts, unverified }: Pick<RecoveredScan, 'doubts' | 'unverified'>,
): string {
  const causes = unverified ? [queues.causes[unverified]] : [];
  const texts = new Set([...doubts.map((doubt) => queues.doubt[doubt]), ...causes]);
  return [...texts].join(' · ') || queues.noDoubts;
}
