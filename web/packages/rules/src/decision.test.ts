import { describe, expect, test } from 'vitest';
import { decide } from './decision.ts';
import { REASONS, type Case, type EventDay, type Verdict } from './model.ts';
import { parseMoment } from './moments.ts';
import { casesOf, partOf } from './testing.ts';

type Part = Record<string, unknown>;
interface DecisionCase {
  name: string;
  with: Record<string, Part | null>;
  gives: Partial<Verdict>;
}

const MOMENTS = new Set([
  'at',
  'starts_at',
  'ends_at',
  'last_scanned_at',
  'left_at',
  'may_return_at',
]);
const NOTHING: Omit<Verdict, 'status'> = {
  reason: null,
  entry_number: null,
  day: null,
  seconds_since_last_scan: null,
  left_at: null,
  may_return_at: null,
};
const base = partOf<Record<string, Part>>('scan_decisions', 'base');
const cases = casesOf<DecisionCase>('scan_decisions', 'cases');

function situationOf(changes: DecisionCase['with']): Case {
  const parts = Object.entries(base).map(([part, fields]) => {
    const changed = changes[part];
    return [part, changed === null ? null : { ...fields, ...changed }];
  });
  return withMoments(Object.fromEntries(parts)) as Case;
}

function withMoments(written: object): unknown {
  return JSON.parse(JSON.stringify(written), (name, value: unknown) =>
    MOMENTS.has(name) && typeof value === 'string' ? parseMoment(value) : value,
  );
}

describe('the rule of the gates:', () => {
  for (const { name, with: changes, gives } of cases) {
    test(name, () => {
      expect(decide(situationOf(changes))).toEqual(withMoments({ ...NOTHING, ...gives }));
    });
  }
});

test('every reason has a case and every case its own name', () => {
  const given = new Set(cases.flatMap(({ gives }) => gives.reason ?? []));
  // Which nobody has decided.
  expect([...given].sort()).toEqual(REASONS.filter((reason) => reason !== 'unverified').sort());
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
});

test('reasons are checked in the order in which they are listed', () => {
  const all = situationOf({});
  const days: EventDay[] = [];
  const worst: Case = {
    ...all,
    event: { ...all.event, days, status: 'ended' },
    gate: { ...all.gate, status: 'closed', hard_capacity_limit: 0 },
    ticket: { ...all.ticket!, gate_ids: [], days: ['x'], entry_limit: 0, reentry: 'never' },
    history: { ...all.history, entries: 1 },
  };
  expect(decide(worst).reason).toBe('event_not_live');
  const isLive = { ...worst, event: all.event };
  expect(decide(isLive).reason).toBe('gate_closed');
  expect(decide({ ...isLive, gate: all.gate }).reason).toBe('wrong_gate');
});
