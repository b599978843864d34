import type { Alert, ConflictInFull, Recovery } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { LANGUAGES } from '../messages/index.ts';
import { alertFacts, bySeverity, conflictOf, placeOf, recoveryOf } from './alert_facts.ts';

const { en } = LANGUAGES;

function anAlert(facts: Partial<Alert>): Alert {
  const about = { subject_type: 'ticket', subject_id: 't', details: {} };
  return { id: 'a', severity: 'high', kind: 'double_entry', ...about, ...facts } as Alert;
}

function aConflict(id: string, ticket_id: string, scan_id: string): ConflictInFull {
  const scan = (gate_name: string, second: number) => ({
    gate_name,
    scanned_at_canonical: `2030-01-01T16:00:0${second}Z`,
  });
  const both = { winner: scan('North', 7), scan: scan('South', 2) };
  return { conflict: { id, ticket_id, scan_id }, ...both } as ConflictInFull;
}

test('the critical ones come first, and otherwise the newest', () => {
  const alerts = (['low', 'high', 'critical', 'high', 'critical'] as const).map((severity, at) =>
    anAlert({ id: String(at), severity }),
  );
  expect(bySeverity(alerts).map(({ id }) => id)).toEqual(['2', '4', '1', '3', '0']);
});

test('an alert leads to where it is dealt with', () => {
  expect(placeOf(anAlert({}))).toBe('conflicts');
  expect(placeOf(anAlert({ kind: 'clock_skew', subject_type: 'device' }))).toBe('devices');
  expect(placeOf(anAlert({ kind: 'unverified_scans', subject_type: 'device' }))).toBe('recoveries');
  expect(placeOf(anAlert({ kind: 'invalid_admission', subject_type: 'batch' }))).toBe('devices');
  expect(placeOf(anAlert({ kind: 'gate_near_capacity', subject_type: 'gate' }))).toBe('live');
});

test('scans for a gate where the device never was are dealt with where they wait, if that is here', () => {
  const foreign = anAlert({ kind: 'foreign_gate', subject_type: 'device' });
  expect(placeOf(foreign)).toBe('devices');
  expect(placeOf(foreign, {} as Recovery)).toBe('recoveries');
  const skew = anAlert({ kind: 'clock_skew', subject_type: 'device' });
  expect(placeOf(skew, {} as Recovery)).toBe('devices');
});

test('of several deliveries of a device it is about the one with its batch', () => {
  const recoveries = ['b1', 'b2'].map((batch_id) => ({ batch_id, device_id: 'd' }) as Recovery);
  const about = (batch_id: string, subject_id = 'd') =>
    recoveryOf(anAlert({ subject_id, details: { batch_id } }), recoveries)?.batch_id;
  expect(about('b2')).toBe('b2');
  expect(about('b0')).toBe('b1');
  expect(about('b0', 'other')).toBeUndefined();
});

test('of several conflicts of a ticket it is about the one with its scan', () => {
  const conflicts = [
    aConflict('x', 'other', 's0'),
    aConflict('1', 't', 's1'),
    aConflict('2', 't', 's2'),
  ];
  expect(conflictOf(anAlert({ details: { scan_id: 's2' } }), conflicts)?.conflict.id).toBe('2');
  expect(conflictOf(anAlert({}), conflicts)?.conflict.id).toBe('1');
  expect(conflictOf(anAlert({ subject_id: 'nobody' }), conflicts)).toBeUndefined();
});

test('names the gates, and what else the alert knows', () => {
  const facts = (alert: Partial<Alert>) =>
    alertFacts(en, anAlert(alert), aConflict('1', 't', 's1'), 'UTC');
  const travel = { from_gate: 'North', to_gate: 'South', seconds: 42 };
  expect(facts({ kind: 'impossible_travel', details: travel })).toEqual([
    'At North, and 42 s later at South',
  ]);
  expect(facts({ kind: 'double_entry' })).toEqual([
    expect.stringMatching(/^Let in at South, .*16:00:02$/),
    expect.stringMatching(/^Let in at North, .*16:00:07$/),
  ]);
  expect(facts({ kind: 'clock_skew', details: { diff_seconds: -75 } })).toEqual(['75 s off']);
  expect(facts({ kind: 'forged_barcode' })).toEqual([]);
});

test('says why scans wait, for which gates they were, and how fast they came', () => {
  const facts = (kind: Alert['kind'], details: Alert['details']) =>
    alertFacts(en, anAlert({ kind, details }), undefined, 'UTC');
  const causes = { foreign_gate: 3, from_future: 1 };
  expect(facts('unverified_scans', { causes })).toEqual([
    'At a gate where the device never was: 3 scans',
    'From the future: 1 scan',
  ]);
  expect(facts('unverified_scans', { scans: 2 })).toEqual([]);
  expect(facts('foreign_gate', { gates: ['North'] })).toEqual(['Gate: North']);
  expect(facts('foreign_gate', { gates: ['North', 'South'] })).toEqual(['Gates: North, South']);
  expect(facts('impossible_rate', { entries: 61, seconds: 29 })).toEqual(['61 entries in 29 s']);
});
