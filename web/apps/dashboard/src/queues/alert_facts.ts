import type { Alert, ConflictInFull, RecoveredScan, Recovery } from '@voelgoed/api';
import { durationText, momentText, numberText } from '../format.ts';
import type { Messages } from '../messages/index.ts';

const RANKS: Record<Alert['severity'], number> = { critical: 0, high: 1, low: 2 };

/** The critical ones first, and otherwise as they came. */
export function bySeverity(alerts: readonly Alert[]): Alert[] {
  return [...alerts].sort((one, other) => RANKS[one.severity] - RANKS[other.severity]);
}

/** Where an alert is dealt with: a page of the event, or another part of the work queues. */
export type AlertPlace = 'devices' | 'live' | 'recoveries' | 'conflicts';

/** Kinds that say what is wrong with scans which wait for review. */
const ABOUT_WAITING: ReadonlySet<Alert['kind']> = new Set<Alert['kind']>([
  'foreign_gate',
  'future_timestamp',
]);

/** `recovery` is that of its scans, if it waits at this event: scans for a gate where the device never
 * was may have come with a delivery of another event. */
export function placeOf({ kind, subject_type }: Alert, recovery?: Recovery): AlertPlace {
  if (kind === 'unverified_scans') return 'recoveries';
  if (recovery && ABOUT_WAITING.has(kind)) return 'recoveries';
  if (subject_type === 'device' || subject_type === 'batch') return 'devices';
  return subject_type === 'ticket' ? 'conflicts' : 'live';
}

/** The conflict that an alert about a ticket is about: by its scan, or else by its ticket. */
export function conflictOf(
  { details, subject_id }: Alert,
  conflicts: readonly ConflictInFull[],
): ConflictInFull | undefined {
  return (
    conflicts.find(({ conflict }) => conflict.scan_id === details.scan_id) ??
    conflicts.find(({ conflict }) => conflict.ticket_id === subject_id)
  );
}

/** The scans that wait for review which an alert about a device is about: by their batch, or else by
 * their device. */
export function recoveryOf(
  { details, subject_id }: Alert,
  recoveries: readonly Recovery[],
): Recovery | undefined {
  return (
    recoveries.find(({ batch_id }) => batch_id === details.batch_id) ??
    recoveries.find(({ device_id }) => device_id === subject_id)
  );
}

/** What the alert knows of what happened, in words. */
export function alertFacts(
  words: Messages,
  { kind, details }: Alert,
  conflict: ConflictInFull | undefined,
  timeZone: string,
): string[] {
  const text = (name: string) => String(details[name] ?? '');
  const count = (name: string) => numberText(words, Math.abs(Number(details[name] ?? 0)));
  switch (kind) {
    case 'impossible_travel': {
      const age = durationText(words, Number(details.seconds ?? 0));
      return [words.queues.travelled(text('from_gate'), text('to_gate'), age)];
    }
    case 'double_entry': {
      if (!conflict) return [];
      const scans = [conflict.winner, conflict.scan].sort((one, other) =>
        one.scanned_at_canonical.localeCompare(other.scanned_at_canonical),
      );
      return scans.map(({ gate_name, scanned_at_canonical: at }) =>
        words.queues.letInAt(gate_name, momentText(words, at, timeZone)),
      );
    }
    case 'gate_near_capacity':
      return [words.live.of(count('current'), count('capacity'))];
    case 'clock_skew':
      return [words.live.clockOff(count('diff_seconds'))];
    case 'device_malfunction':
      return [words.queues.errors(count('errors'), count('scans'))];
    case 'unverified_scans':
      return causeTexts(words, details.causes);
    case 'foreign_gate': {
      const gates = (details.gates ?? []) as string[];
      return [words.queues.gatesNamed(gates.length, gates.join(', '))];
    }
    case 'impossible_rate':
      return [words.queues.rate(count('entries'), count('seconds'))];
    default:
      return [];
  }
}

type Cause = NonNullable<RecoveredScan['unverified']>;

/** How many scans wait, by what is against them. An imported file has no causes: all of it waits. */
function causeTexts({ queues }: Messages, causes: unknown): string[] {
  return Object.entries((causes ?? {}) as Partial<Record<Cause, number>>).map(([cause, scans]) =>
    queues.causeOf(queues.causes[cause as Cause], scans),
  );
}
