import { describe, expect, test } from 'vitest';
import type { EventFacts, TicketFacts } from './model.ts';
import { parseMoment, type Moment } from './moments.ts';
import type { Clash, HistoryScan, JudgedHistory, Resolution } from './scan_history_model.ts';
import { clashesOf, frozenPrefix, reconcile } from './reconcile.ts';
import { casesOf, everyOrderOf, partOf } from './testing.ts';

interface ConflictCase {
  name: string;
  with: Partial<TicketFacts>;
  resets?: string[];
  scans: Array<Partial<HistoryScan>>;
  gives: {
    resolutions: Array<Resolution & { scan_id: string }>;
    conflicts: Clash[];
    heads: { inside: number; irregular: number };
  };
}

const MOMENTS = new Set(['starts_at', 'ends_at', 'scanned_at_canonical']);

function inMoments<T>(given: unknown): T {
  return JSON.parse(JSON.stringify(given), (name, value: unknown) =>
    MOMENTS.has(name) ? parseMoment(value as string) : value,
  ) as T;
}

const base = inMoments<{ event: EventFacts; ticket: TicketFacts }>(partOf('conflicts', 'base'));
const usual = partOf<Partial<HistoryScan>>('conflicts', 'scan');
const cases = casesOf<ConflictCase>('conflicts', 'cases');

/** As it becomes known one by one: what came before keeps its resolution. */
function learn(
  event: EventFacts,
  ticket: TicketFacts,
  scans: readonly HistoryScan[],
): JudgedHistory {
  let known: HistoryScan[] = [];
  let history = reconcile(event, ticket, known);
  for (const scan of scans) {
    const after = [...known, scan];
    history = reconcile(event, ticket, after, frozenPrefix(after, new Set([scan.id])));
    known = history.scans.map((judged) => ({ ...judged.scan, resolution: judged.resolution }));
  }
  return history;
}

function givenBy({ scans, state }: JudgedHistory): ConflictCase['gives'] {
  const irregular = state.attendance.irregular.length;
  return {
    resolutions: scans.map(({ scan, resolution }) => ({ scan_id: scan.id, ...resolution })),
    conflicts: clashesOf(scans),
    heads: { inside: Number(state.attendance.is_inside) + irregular, irregular },
  };
}

describe('in whatever order scans become known:', () => {
  for (const { name, with: changes, resets = [], scans, gives } of cases) {
    test(name, () => {
      const event = { ...base.event, resets: resets.map(parseMoment) };
      const ticket = { ...base.ticket, ...changes };
      const known = scans.map((scan) => inMoments<HistoryScan>({ ...usual, ...scan }));
      const conflicts = gives.conflicts.map((each) => {
        const { event_id, ticket_id } = known.find(({ id }) => id === each.scan_id)!;
        return { ...each, event_id, ticket_id };
      });
      for (const order of everyOrderOf(known)) {
        expect(givenBy(learn(event, ticket, order))).toEqual({ ...gives, conflicts });
        expect(givenBy(reconcile(event, ticket, order))).toEqual({ ...gives, conflicts });
      }
    });
  }
});

const [first] = cases[0]!.scans;
const entered = inMoments<HistoryScan>({ ...usual, ...first });
const other = { ...entered, id: 'ffffffff-0000-7000-8000-000000000101' };

test('a denied scan is in no conflict, whether a device or the server denied it', () => {
  for (const source of ['online', 'offline_sync', 'recovered'] as const) {
    const refused = { ...other, source, is_let_in: false, outcome: 'duplicate' } as const;
    const { scans } = reconcile(base.event, base.ticket, [refused, entered]);
    expect(scans.map(({ resolution }) => resolution.reason)).toEqual([null, 'already_scanned']);
    expect(clashesOf(scans)).toEqual([]);
  }
});

test('a scan that was turned away keeps its reason, whatever else is known', () => {
  const refused = { ...other, is_let_in: false, outcome: 'expired' } as const;
  const { scans } = reconcile(base.event, base.ticket, [entered, refused]);
  expect(scans[1]!.resolution.reason).toBe('event_ended');
  const atWrongGate = { ...refused, stateless_reason: 'wrong_gate' } as const;
  const again = reconcile(base.event, base.ticket, [entered, atWrongGate]);
  expect(again.scans[1]!.resolution.reason).toBe('wrong_gate');
});

test('a reset at the moment of a scan comes after it, and resets need no order', () => {
  const at = entered.scanned_at_canonical;
  const inside = (resets: Moment[]) =>
    reconcile({ ...base.event, resets }, base.ticket, [entered]).state.attendance.is_inside;
  expect(inside([at - 1])).toBe(true);
  expect(inside([at])).toBe(false);
  expect(inside([at + 1, at - 1])).toBe(false);
});

test('scans of no device come before those of any', () => {
  const ofNobody = { ...other, device_id: null };
  const { scans } = reconcile(base.event, base.ticket, [entered, ofNobody]);
  expect(scans.map((each) => each.scan.id)).toEqual([ofNobody.id, entered.id]);
});
