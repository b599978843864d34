/** Whether what was parsed is what the rules rely on. Fields that they do not know are let be. */

import { EVENT_STATUSES, GATE_STATUSES, REENTRIES, TICKET_STATUSES } from './model.ts';
import type { Manifest } from './manifest_model.ts';
import { readMoment } from './moments.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const whole: Check = (value) => Number.isSafeInteger(value);
const flag: Check = (value) => typeof value === 'boolean';
const moment: Check = (value) => typeof value === 'string' && readMoment(value) !== null;

function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

function leftOutOr(check: Check): Check {
  return (value) => value === undefined || check(value);
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

function oneOf(words: readonly string[]): Check {
  return (value) => words.includes(value as string);
}

function shaped(fields: Record<string, Check>): Check {
  const checks = Object.entries(fields);
  return (value) => {
    if (typeof value !== 'object' || value === null) return false;
    for (const [name, check] of checks) {
      if (!check((value as Record<string, unknown>)[name])) return false;
    }
    return true;
  };
}

const entry = shaped({
  ticket_id: text,
  barcode_hash: text,
  zone: orNull(text),
  gate_ids: orNull(listOf(text)),
  entry_limit: orNull(whole),
  code_hash: text,
  status: oneOf(TICKET_STATUSES),
  issue: whole,
  type: whole,
  seat: leftOutOr(text),
  days: leftOutOr(listOf(text)),
  membership: leftOutOr(flag),
  entries: leftOutOr(whole),
  day: leftOutOr(text),
  day_entries: leftOutOr(whole),
  last_scanned_at: leftOutOr(moment),
  last_gate: leftOutOr(text),
  is_inside: leftOutOr(flag),
  last_exit_at: leftOutOr(moment),
});

const manifest = shaped({
  event_id: text,
  event_name: text,
  manifest_version: whole,
  generated_at: moment,
  expires_at: moment,
  occupancy: listOf(shaped({ gate_id: text, inside: whole })),
  event: shaped({
    status: oneOf(EVENT_STATUSES),
    ends_at: moment,
    dedup_window_s: whole,
    days: listOf(shaped({ date: text, starts_at: moment, ends_at: moment })),
  }),
  gates: listOf(
    shaped({
      gate_id: text,
      id: text,
      name: text,
      status: oneOf(GATE_STATUSES),
      access_rules: shaped({
        zones: orNull(listOf(text)),
        max_concurrent: orNull(whole),
        hard_capacity_limit: orNull(whole),
      }),
    }),
  ),
  zones: listOf(shaped({ number: whole, zone: text, name: text })),
  ticket_types: listOf(
    shaped({
      number: whole,
      name: text,
      entry_limit: orNull(whole),
      max_daily_entries: orNull(whole),
      reentry: oneOf(REENTRIES),
      gate_ids: orNull(listOf(text)),
    }),
  ),
  public_keys: listOf(shaped({ number: whole, public_key: text })),
  seat_notes: listOf(shaped({ seat: text, notes: listOf(text) })),
  tickets: listOf(entry),
});

export function isManifest(value: unknown): value is Manifest {
  return manifest(value);
}
