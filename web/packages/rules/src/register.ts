/** A manifest as a device keeps it in memory, to look things up in. */

import { fromBase64, textOf, type Bytes } from './bytes.ts';
import type { Entry, Manifest, ManifestGate, ManifestTicketType } from './manifest_model.ts';
import { isManifest } from './manifest_shape.ts';
import type { EventFacts } from './model.ts';
import { parseMoment, type Moment } from './moments.ts';

/** This device can do nothing with it, though it is genuine. */
export class UnreadableManifest extends Error {
  override name = 'UnreadableManifest';
}

/** Of a document whose signature was verified. */
export function readManifest(document: Uint8Array): Manifest {
  let read: unknown;
  try {
    read = JSON.parse(textOf(document));
  } catch (cause) {
    throw new UnreadableManifest('it is not JSON', { cause });
  }
  if (!isManifest(read)) throw new UnreadableManifest('it has not the shape of a manifest');
  return read;
}

export class Register {
  readonly generatedAt: Moment;
  readonly expiresAt: Moment;
  readonly event: EventFacts;
  /** By their codes, and by their ids, which stay when a device goes to another event. */
  readonly gates: ReadonlyMap<string, ManifestGate>;
  readonly types: ReadonlyMap<number, ManifestTicketType>;
  readonly zones: ReadonlyMap<number, string>;
  readonly zoneNames: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<number, Bytes>;
  readonly notes: ReadonlyMap<string, readonly string[]>;
  readonly byTicket = new Map<string, Entry>();
  readonly byBarcode = new Map<string, Entry>();
  readonly byCode = new Map<string, Entry>();

  constructor(
    readonly manifest: Manifest,
    readonly codeKey: Uint8Array,
  ) {
    const { gates, zones } = manifest;
    this.generatedAt = parseMoment(manifest.generated_at);
    this.expiresAt = parseMoment(manifest.expires_at);
    this.event = eventFacts(manifest);
    this.gates = new Map([
      ...gates.map((gate) => [gate.gate_id, gate] as const),
      ...gates.map((gate) => [gate.id, gate] as const),
    ]);
    this.types = new Map(manifest.ticket_types.map((type) => [type.number, type]));
    this.zones = new Map(zones.map(({ number, zone }) => [number, zone]));
    this.zoneNames = new Map(zones.map(({ zone, name }) => [zone, name]));
    this.keys = new Map(manifest.public_keys.map((key) => [key.number, keyBytes(key.public_key)]));
    this.notes = new Map(manifest.seat_notes.map(({ seat, notes }) => [seat, notes]));
    for (const entry of manifest.tickets) this.#add(entry);
  }

  #add(entry: Entry): void {
    if (!this.types.has(entry.type)) {
      throw new UnreadableManifest('a ticket is of a type that the manifest does not have');
    }
    this.byTicket.set(entry.ticket_id, entry);
    this.byBarcode.set(entry.barcode_hash, entry);
    this.byCode.set(entry.code_hash, entry);
  }
}

function eventFacts({ event, event_id }: Manifest): EventFacts {
  return {
    id: event_id,
    status: event.status,
    ends_at: parseMoment(event.ends_at),
    days: event.days.map(({ date, starts_at, ends_at }) => ({
      date,
      starts_at: parseMoment(starts_at),
      ends_at: parseMoment(ends_at),
    })),
    dedup_window_s: event.dedup_window_s,
  };
}

function keyBytes(publicKey: string): Bytes {
  try {
    return fromBase64(publicKey);
  } catch (cause) {
    throw new UnreadableManifest('a public key is not base64', { cause });
  }
}
