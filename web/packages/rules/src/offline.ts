/**
 * The decision of a device alone, from its manifest and the people that it let through itself.
 *
 * The rule of the gates (decision.ts) decides here too. This module only finds the ticket and the facts
 * about it. It is tested by contracts/offline_decisions.json.
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
import { insideOf, isInsideBy, storyOf, unknownTo, type Story } from './own_scans.ts';
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

/**
 * What the device lacks to decide anything; null where it lacks nothing. A person who is inside may
 * leave, however old the manifest is.
 */
export function lacking(
  register: Register,
  { gate, direction, at }: Omit<About, 'own'>,
): Undecided | null {
  if (direction === 'entry' && at > register.expiresAt) return 'manifest_expired';
  return register.gates.has(gate) ? null : 'gate_unknown';
}

export async function decideOffline(
  register: Register,
  text: string,
  { gate, direction, at, own }: About,
): Promise<Decision | Undecided> {
  const lacks = lacking(register, { gate, direction, at });
  if (lacks !== null) return lacks;
  const here = register.gates.get(gate) as ManifestGate;
  const found = await find(register, text);
  const story = storyOfFound(register, found, own);
  const verdict = decide({
    attempt: { at, direction, issue: found.issue },
    event: register.event,
    gate: gateFacts(here, insideOf(register, here, own)),
    ticket: found.ticket,
    history: {
      ...story.history,
      inside_gate_id: isInsideBy(register, story, here) ? here.id : null,
    },
  });
  return decisionOf(register, found, verdict, story);
}

function storyOfFound(register: Register, { ticket_id }: Found, own: OwnScans): Story {
  if (ticket_id === null) return storyOf(register, undefined, []);
  const entry = register.byTicket.get(ticket_id);
  return storyOf(register, entry, unknownTo(register, entry, own.get(ticket_id) ?? []));
}

function gateFacts({ id, status, access_rules }: ManifestGate, inside: number): GateFacts {
  const { zones, hard_capacity_limit } = access_rules;
  return { id, status, allowed_zones: zones, hard_capacity_limit, inside };
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
  const isKnown = found.ticket !== null && found.ticket_id !== null;
  const last = isKnown ? story.history.last_scanned_at : null;
  const gate = last === null ? undefined : register.gates.get(story.lastGate ?? '');
  return {
    ...placeOfFound(register, found),
    last_scanned_at: last,
    last_gate: gate?.name ?? null,
  };
}

export type Place = Pick<Shown, 'seat' | 'zone' | 'notes'>;

/** What the manifest shows of the ticket, whether the device or the server decides. */
export async function placeOf(register: Register, text: string): Promise<Place> {
  return placeOfFound(register, await find(register, text));
}

function placeOfFound(register: Register, { seat, ticket, ticket_id }: Found): Place {
  if (ticket === null || ticket_id === null) return { seat: null, zone: null, notes: [] };
  return {
    seat,
    zone: (ticket.zone_id && register.zoneNames.get(ticket.zone_id)) ?? null,
    notes: (seat && register.notes.get(seat)) || [],
  };
}
