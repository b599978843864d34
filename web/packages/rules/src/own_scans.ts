/** The history of a ticket from a manifest and from the device's own scans since. */

import { NOBODY_CAME } from './attendance.ts';
import { dayOf } from './decision.ts';
import type { Entry, ManifestGate } from './manifest_model.ts';
import type { History, OwnScan, OwnScans } from './model.ts';
import { parseMoment, type Moment } from './moments.ts';
import type { Register } from './register.ts';

/** Of a ticket, as far as a device knows it. */
export interface Story {
  history: History;
  /** Where somebody last came in with it: the code of the gate, or its id. */
  lastGate: string | null;
}

/** Of a device's own scans those that its manifest does not count yet, in their order. */
export function unknownTo(
  register: Register,
  entry: Entry | undefined,
  own: readonly OwnScan[],
): OwnScan[] {
  const unknown = own.filter((scan) => !isCounted(register, entry, scan));
  return unknown.sort((one, other) => one.at - other.at);
}

function isCounted(register: Register, entry: Entry | undefined, scan: OwnScan): boolean {
  if (scan.acknowledged_at !== null && scan.acknowledged_at < register.generatedAt) return true;
  // The answer was lost, but the manifest shows that the scan arrived.
  return scan.direction === 'entry' && scan.at === lastScannedAt(entry);
}

function lastScannedAt(entry: Entry | undefined): Moment | null {
  return entry?.last_scanned_at === undefined ? null : parseMoment(entry.last_scanned_at);
}

/** The manifest's, and then what it does not know. An entry before its last one counts, but changes
 * neither when somebody last came nor whether they are inside. */
export function storyOf(
  register: Register,
  entry: Entry | undefined,
  unknown: readonly OwnScan[],
): Story {
  const before = historyOf(entry);
  let { entries, last_scanned_at: last, inside_day: inside, left_at: left } = before;
  let lastGate = entry?.last_gate ?? null;
  const byDay: Record<string, number> = { ...before.entries_by_day };
  for (const scan of unknown) {
    const isLater = last === null || scan.at > last;
    if (scan.direction === 'exit') {
      if (isLater) [inside, left] = [null, Math.max(left ?? scan.at, scan.at)];
      continue;
    }
    const day = dayOf(register.event.days, scan.at);
    entries += 1;
    if (day !== null) byDay[day] = (byDay[day] ?? 0) + 1;
    if (isLater) [last, inside, left, lastGate] = [scan.at, day, null, scan.gate];
  }
  const history = {
    entries,
    entries_by_day: byDay,
    last_scanned_at: last,
    inside_day: inside,
    left_at: left,
  };
  return { history, lastGate };
}

function historyOf(entry: Entry | undefined): History {
  if (entry?.day === undefined) return NOBODY_CAME;
  return {
    entries: entry.entries ?? 0,
    entries_by_day: { [entry.day]: entry.day_entries ?? 0 },
    last_scanned_at: lastScannedAt(entry),
    inside_day: entry.is_inside ? entry.day : null,
    left_at: entry.last_exit_at === undefined ? null : parseMoment(entry.last_exit_at),
  };
}

/** How many are inside by this gate: as the manifest counted them, and as this device's own scans
 * moved them since. Only counted where there is a limit, and there people stay counted overnight. */
export function insideOf(register: Register, gate: ManifestGate, own: OwnScans): number {
  if (gate.access_rules.hard_capacity_limit === null) return 0;
  let inside = counted(register, gate);
  for (const [ticketId, scans] of own) {
    const entry = register.byTicket.get(ticketId);
    const unknown = unknownTo(register, entry, scans);
    if (unknown.length === 0) continue;
    inside += Number(isInsideBy(register, storyOf(register, entry, unknown), gate));
    inside -= Number(isInsideBy(register, storyOf(register, entry, []), gate));
  }
  return Math.max(inside, 0);
}

function counted(register: Register, gate: ManifestGate): number {
  return register.manifest.occupancy
    .filter(({ gate_id }) => gate_id === gate.gate_id)
    .reduce((sum, { inside }) => sum + inside, 0);
}

/** By this gate, since whatever day. */
export function isInsideBy(
  register: Register,
  { history, lastGate }: Story,
  gate: ManifestGate,
): boolean {
  return history.inside_day !== null && register.gates.get(lastGate ?? '') === gate;
}
