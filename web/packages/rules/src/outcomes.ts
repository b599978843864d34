/** From what the rule says to what a device says of a scan. */

import type { Colour, Outcome, Reason } from './model.ts';

const OUTCOMES: Readonly<Record<Reason, Outcome>> = {
  ticket_not_found: 'invalid',
  wrong_event: 'invalid',
  barcode_revoked: 'invalid',
  ticket_already_used: 'duplicate',
  ticket_voided: 'invalid',
  ticket_refunded: 'invalid',
  already_scanned: 'duplicate',
  event_not_live: 'expired',
  event_ended: 'expired',
  gate_closed: 'gate_access_denied',
  wrong_gate: 'gate_access_denied',
  not_valid_today: 'expired',
  membership_not_active: 'invalid',
  reentry_not_allowed: 'duplicate',
  exit_required: 'duplicate',
  entry_limit_reached: 'duplicate',
  daily_limit_reached: 'duplicate',
  gate_at_capacity: 'gate_access_denied',
  not_inside: 'invalid',
  unverified: 'invalid',
};
const REASONS: Readonly<Record<Exclude<Outcome, 'valid'>, Reason>> = {
  duplicate: 'already_scanned',
  invalid: 'ticket_not_found',
  gate_access_denied: 'wrong_gate',
  expired: 'event_ended',
};

/** Null: let through. */
export function outcomeOf(reason: Reason | null): Outcome {
  return reason === null ? 'valid' : OUTCOMES[reason];
}

/** Of a device that let nobody through though nothing that we know is against it. */
export function reasonOf(outcome: Exclude<Outcome, 'valid'>): Reason {
  return REASONS[outcome];
}

export function colourOf(outcome: Outcome): Colour {
  return outcome === 'valid' ? 'green' : 'red';
}
