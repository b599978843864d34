/** The ticket that a person shows, as far as the manifest and the barcode itself identify it. */

import { eventHint, readBarcode, verifyBarcode, type Barcode } from './barcode.ts';
import { hasEd25519 } from './crypto.ts';
import { barcodeHash, codeHash } from './manifest.ts';
import type { Entry, Manifest } from './manifest_model.ts';
import type { TicketFacts } from './model.ts';
import { readPresented } from './presented.ts';
import type { Register } from './register.ts';

/** Stands for days that the manifest's event does not have. */
const NO_DAY = '';
const NO_EVENT = '00000000-0000-0000-0000-000000000000';

export interface Found {
  barcode_hash: string;
  ticket: TicketFacts | null;
  issue: number | null;
  /** Of a ticket of this event, proven. */
  ticket_id: string | null;
  seat: string | null;
  is_forged: boolean;
}

export async function find(register: Register, text: string): Promise<Found> {
  const presented = readPresented(text);
  if (presented?.isTyped) {
    const entry = register.byCode.get(await codeHash(register.codeKey, presented.code));
    return entry ? known(register, entry, null) : nothing(await barcodeHash(text));
  }
  const shown = await barcodeHash(text);
  if (presented === null) return nothing(shown);
  const entry = register.byBarcode.get(shown);
  if (entry) return known(register, entry, entry.issue);
  const barcode = readBarcode(text);
  return barcode ? signed(register, barcode, shown) : nothing(shown);
}

function nothing(shown: string): Found {
  return {
    barcode_hash: shown,
    ticket: null,
    issue: null,
    ticket_id: null,
    seat: null,
    is_forged: false,
  };
}

function known(register: Register, entry: Entry, issue: number | null): Found {
  return {
    barcode_hash: entry.barcode_hash,
    ticket: entryFacts(register, entry, entry.issue),
    issue,
    ticket_id: entry.ticket_id,
    seat: entry.seat ?? null,
    is_forged: false,
  };
}

/** A barcode that the manifest does not have: of another event, of a ticket that has another one by
 * now, or of one that was sold since. */
async function signed(register: Register, barcode: Barcode, shown: string): Promise<Found> {
  const { fields } = barcode;
  const eventId = register.manifest.event_id;
  if (barcode.event_hint !== (await eventHint(eventId))) {
    return { ...nothing(shown), ticket: foreign(fields.ticket_id) };
  }
  if (!(await verifyBarcode(barcode, eventId, register.keys))) {
    // Where nothing can be verified, nobody is called a forger for it.
    return { ...nothing(shown), is_forged: await hasEd25519() };
  }
  const entry = register.byTicket.get(fields.ticket_id);
  return {
    barcode_hash: shown,
    ticket: entry
      ? // A newer issue than the manifest's is the one that replaced it.
        entryFacts(register, entry, Math.max(entry.issue, fields.issue))
      : soldSince(register, barcode),
    issue: fields.issue,
    ticket_id: fields.ticket_id,
    seat: (entry ? entry.seat : fields.seat_label) || null,
    is_forged: false,
  };
}

function entryFacts(register: Register, entry: Entry, issue: number): TicketFacts {
  const type = register.types.get(entry.type);
  if (type === undefined) throw new RangeError('a register has the types of all its tickets');
  return {
    id: entry.ticket_id,
    event_id: register.manifest.event_id,
    status: entry.status,
    issue,
    zone_id: entry.zone,
    days: entry.days ?? [],
    entry_limit: entry.entry_limit,
    max_daily_entries: type.max_daily_entries,
    gate_ids: gateIds(register, entry.gate_ids),
    reentry: type.reentry,
    is_membership_active: entry.membership ?? null,
  };
}

/** Null where its type came after the manifest too: nobody here knows what that allows. */
function soldSince(register: Register, { fields }: Barcode): TicketFacts | null {
  const type = register.types.get(fields.ticket_type_number);
  if (type === undefined) return null;
  return {
    id: fields.ticket_id,
    event_id: register.manifest.event_id,
    status: 'active',
    issue: fields.issue,
    zone_id: register.zones.get(fields.zone_number) ?? null,
    days: daysOf(register.manifest, fields.days),
    entry_limit: type.entry_limit,
    max_daily_entries: type.max_daily_entries,
    gate_ids: gateIds(register, type.gate_ids),
    reentry: type.reentry,
    is_membership_active: null,
  };
}

/** All that is known of it is that it is not of this event. */
function foreign(ticketId: string): TicketFacts {
  return {
    id: ticketId,
    event_id: NO_EVENT,
    status: 'active',
    issue: 1,
    zone_id: null,
    days: [],
    entry_limit: null,
    max_daily_entries: null,
    gate_ids: null,
    reentry: 'allowed',
    is_membership_active: null,
  };
}

function daysOf({ event }: Manifest, places: readonly number[]): string[] {
  if (places.length === 0) return [];
  const dates = places.flatMap((place) => event.days[place]?.date ?? []);
  return dates.length > 0 ? dates : [NO_DAY];
}

function gateIds(register: Register, codes: readonly string[] | null): string[] | null {
  return codes && codes.flatMap((code) => register.gates.get(code)?.id ?? []);
}
