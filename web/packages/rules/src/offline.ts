/**
 * What a device decides alone, from its manifest and from whom it let through itself.
 *
 * It is the rule of the gates (decision.ts) that decides here too. This only finds the ticket and what
 * is known of it. Judged by contracts/offline_decisions.json.
 */

import { decide } from './decision.ts';
import { find, type Found } from './find.ts';
import type { ManifestGate } from './manifest_model.ts';
import type {
  Decision,
  Direction,
  GateFacts,
  OwnScans,
  Shown,
  Undecided,
  Verdict,
} from './model.ts';
import type { Moment } from './moments.ts';
import { colourOf, outcomeOf } from './outcomes.ts';
import { insideOf, storyOf, unknownTo, type Story } from './own_scans.ts';
import type { Register } from './register.ts';

export interface About {
  /** By its code or its id. */
  gate: string;
  direction: Direction;
  /** In the server's time. */
  at: Moment;
  /** Whom this device let through. */
  own: OwnScans;
}

/** Whoever is inside may go, however old the manifest is. */
export async function decideOffline(
  register: Register,
  text: string,
  { gate, direction, at, own }: About,
): Promise<Decision | Undecided> {
  if (direction === 'entry' && at > register.expiresAt) return 'manifest_expired';
  const here = register.gates.get(gate);
  if (here === undefined) return 'gate_unknown';
  const found = await find(register, text);
  const story = storyOfFound(register, found, own);
  const verdict = decide({
    attempt: { at, direction, issue: found.issue },
    event: register.event,
    gate: gateFacts(here, insideOf(register, here, at, own)),
    ticket: found.ticket,
    history: story.history,
  });
  return decisionOf(register, found, verdict, story);
}

function storyOfFound(register: Register, { ticket_id }: Found, own: OwnScans): Story {
  if (ticket_id === null) return storyOf(register, undefined, []);
  const entry = register.byTicket.get(ticket_id);
  return storyOf(register, entry, unknownTo(register, entry, own.get(ticket_id) ?? []));
}

function gateFacts({ id, status, access_rules }: ManifestGate, inside: number): GateFacts {
  const { zones, max_concurrent } = access_rules;
  return { id, status, allowed_zones: zones, hard_capacity_limit: max_concurrent, inside };
}

function decisionOf(register: Register, found: Found, verdict: Verdict, story: Story): Decision {
  const outcome = outcomeOf(verdict.reason);
  return {
    verdict,
    outcome,
    colour: colourOf(outcome),
    ticket_id: found.ticket_id,
    barcode_hash: found.barcode_hash,
    is_forged: found.is_forged,
    shown: shownOf(register, found, story),
  };
}

function shownOf(register: Register, found: Found, story: Story): Shown {
  const { seat, ticket, ticket_id } = found;
  if (ticket === null || ticket_id === null) return NOTHING_SHOWN;
  const last = story.history.last_scanned_at;
  const gate = last === null ? undefined : register.gates.get(story.lastGate ?? '');
  return {
    seat,
    zone: (ticket.zone_id && register.zoneNames.get(ticket.zone_id)) ?? null,
    notes: (seat && register.notes.get(seat)) || [],
    last_scanned_at: last,
    last_gate: gate?.name ?? null,
  };
}

const NOTHING_SHOWN: Shown = {
  seat: null,
  zone: null,
  notes: [],
  last_scanned_at: null,
  last_gate: null,
};
