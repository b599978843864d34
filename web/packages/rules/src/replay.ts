import type { HistoryScan } from './scan_history_model.ts';

const NOBODY = '00000000-0000-0000-0000-000000000000';

/** That of the canonical moments, then of devices, then of scans, so that it does not matter in which
 * order they became known. */
export function inOrder(scans: readonly HistoryScan[]): HistoryScan[] {
  return scans.toSorted(
    (one, other) =>
      one.scanned_at_canonical - other.scanned_at_canonical ||
      inTextOrder(one.device_id ?? NOBODY, other.device_id ?? NOBODY) ||
      inTextOrder(one.id, other.id),
  );
}

function inTextOrder(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
