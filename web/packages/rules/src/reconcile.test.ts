import { describe, expect, test } from 'vitest';
import type { EventFacts, TicketFacts } from './model.ts';
import { parseMoment } from './moments.ts';
import type { Clash, JudgedScan, Resolution, HistoryScan } from './scan_history_model.ts';
import { clashesOf, frozenPrefix, tell } from './reconcile.ts';
import { casesOf, everyOrderOf, partOf } from './testing.ts';

interface ConflictCase {
  name: string;
  with: Partial<TicketFacts>;
  scans: Array<Partial<HistoryScan>>;
  gives: { resolutions: Array<Resolution & { scan_id: string }>; conflicts: Clash[] };
}

const MOMENTS = new Set(['starts_at', 'ends_at', 'scanned_at_canonical']);

function inMoments<T>(given: unknown): T {
  return JSON.parse(JSON.stringify(given), (name, value: unknown) =>
    MOMENTS.has(name) ? parseMoment(value as string) : value,
  ) as T;
}

const base = inMoments<{ event: EventFacts; ticket: TicketFacts }>(partOf('conflicts', 'base'));
const usual = partOf<Partial<HistoryScan>>('conflicts', 'scan');

/** As it becomes known one by one: what came before stays as it stands. */
function learn(scans: readonly HistoryScan[], ticket: TicketFacts): JudgedScan[] {
  let known: HistoryScan[] = [];
  let told: JudgedScan[] = [];
  for (const scan of scans) {
    const after = [...known, scan];
    told = tell(base.event, ticket, after, frozenPrefix(after, new Set([scan.id])));
    known = told.map((judged) => ({ ...judged.scan, resolution: judged.resolution }));
  }
  return told;
}

function told(judged: readonly JudgedScan[]): ConflictCase['gives'] {
  return {
    resolutions: judged.map(({ scan, resolution }) => ({ scan_id: scan.id, ...resolution })),
    conflicts: clashesOf(judged),
  };
}

describe('in whatever order scans become known:', () => {
  for (const { name, with: changes, scans, gives } of casesOf<ConflictCase>('conflicts', 'cases')) {
    test(name, () => {
      const ticket = { ...base.ticket, ...changes };
      const known = scans.map((scan) => inMoments<HistoryScan>({ ...usual, ...scan }));
      const { event_id, ticket_id } = known[0]!;
      const conflicts = gives.conflicts.map((each) => ({ ...each, event_id, ticket_id }));
      for (const order of everyOrderOf(known)) {
        expect(told(learn(order, ticket))).toEqual({ ...gives, conflicts });
        expect(told(tell(base.event, ticket, order, new Set()))).toEqual({ ...gives, conflicts });
      }
    });
  }
});

test('whom the server turned away itself is no conflict', () => {
  const [first] = casesOf<ConflictCase>('conflicts', 'cases')[0]!.scans;
  const entered = inMoments<HistoryScan>({ ...usual, ...first });
  const refused: HistoryScan = {
    ...entered,
    id: 'ffffffff-0000-7000-8000-000000000101',
    source: 'online',
    is_let_in: false,
    outcome: 'duplicate',
  };
  const judged = tell(base.event, base.ticket, [refused, entered], new Set());
  expect(judged.map(({ resolution }) => resolution.reason)).toEqual([null, 'already_scanned']);
  expect(clashesOf(judged)).toEqual([]);
});

test('scans of no device come before those of any', () => {
  const [first] = casesOf<ConflictCase>('conflicts', 'cases')[0]!.scans;
  const scan = inMoments<HistoryScan>({ ...usual, ...first });
  const ofNobody = { ...scan, id: 'ffffffff-0000-7000-8000-000000000101', device_id: null };
  const judged = tell(base.event, base.ticket, [scan, ofNobody], new Set());
  expect(judged.map((each) => each.scan.id)).toEqual([ofNobody.id, scan.id]);
});
