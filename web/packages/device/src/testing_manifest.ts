/** For tests: manifests as the server makes and signs them. */
import type { Entry, Manifest } from '@voelgoed/rules';
import { barcodeHash, codeHash, contentHash, momentText } from '@voelgoed/rules';

export const EVENT = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
export const OTHER_EVENT = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f0000';
export const GATE = '0190a1b2-bbbb-7000-8000-000000000001';
export const OTHER_GATE = '0190a1b2-bbbb-7000-8000-000000000002';
export const ZONE = '0190a1b2-aaaa-7000-8000-000000000001';
export const CODE_KEY = new Uint8Array(32).fill(7);
const BEGINS_AT = '2026-11-16T06:00:00.000000Z';
const ENDS_AT = '2026-11-17T06:00:00.000000Z';

/** What somebody types who has the ticket of this number. */
export function codeOf(ticket: number): string {
  return `AAAA-AAAA-${String(ticket).padStart(4, '0')}`;
}

export function ticketIdOf(ticket: number): string {
  return `0190a1b2-ffff-7000-8000-${String(ticket).padStart(12, '0')}`;
}

export async function entryOf(ticket: number): Promise<Entry> {
  return {
    ticket_id: ticketIdOf(ticket),
    barcode_hash: await barcodeHash(`barcode of ${ticket}`),
    zone: ZONE,
    gate_ids: null,
    entry_limit: 1,
    is_valid: true,
    expires_at: ENDS_AT,
    code_hash: await codeHash(CODE_KEY, codeOf(ticket)),
    status: 'active',
    issue: 1,
    type: 1,
    seat: `A-${ticket}`,
  };
}

export async function manifestOf(
  version: number,
  generatedMs: number,
  tickets: number,
  changes: Partial<Manifest> = {},
): Promise<Manifest> {
  const entries = Array.from({ length: tickets }, (_, index) => entryOf(index + 1));
  const rules = { zones: null, max_concurrent: null, hard_capacity_limit: null, entry_rules: [] };
  return {
    event_id: EVENT,
    event_name: 'Paris Music Festival',
    manifest_version: version,
    generated_at: momentText(generatedMs * 1_000),
    expires_at: ENDS_AT,
    occupancy: [],
    event: {
      status: 'live',
      ends_at: ENDS_AT,
      dedup_window_s: 300,
      days: [{ date: '2026-11-16', starts_at: BEGINS_AT, ends_at: ENDS_AT }],
    },
    gates: [
      { gate_id: 'north', id: GATE, name: 'North gate', status: 'open', access_rules: rules },
      { gate_id: 'south', id: OTHER_GATE, name: 'South gate', status: 'open', access_rules: rules },
    ],
    zones: [{ number: 1, zone: ZONE, name: 'Stalls' }],
    ticket_types: [
      {
        number: 1,
        name: 'Adult',
        entry_limit: 1,
        max_daily_entries: null,
        reentry: 'allowed',
        gate_ids: null,
      },
    ],
    public_keys: [],
    seat_notes: [{ seat: 'A-1', notes: ['Wheelchair place'] }],
    tickets: await Promise.all(entries),
    ...changes,
  };
}

/** What leads from one to the other, where only tickets differ. */
export async function deltaOf(before: Manifest, after: Manifest): Promise<object> {
  const known = new Map(before.tickets.map((entry) => [entry.ticket_id, JSON.stringify(entry)]));
  return {
    event_id: after.event_id,
    since: before.manifest_version,
    manifest_version: after.manifest_version,
    generated_at: after.generated_at,
    expires_at: after.expires_at,
    event_name: after.event_name,
    content_hash: await contentHash(new TextEncoder().encode(JSON.stringify(after))),
    occupancy: after.occupancy,
    tickets: after.tickets.filter((entry) => known.get(entry.ticket_id) !== JSON.stringify(entry)),
  };
}

/** The manifest as it is sent to the device with this key. */
export async function signedBody(
  document: object,
  apiKey: string,
  offsetSeconds: number | null,
): Promise<string> {
  const text = JSON.stringify(document);
  const tail = {
    offset_seconds: offsetSeconds,
    code_key: btoa(String.fromCharCode(...CODE_KEY))
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
    signature: `HMAC-SHA256=${await hmac(text, apiKey)}`,
  };
  tail.code_key = tail.code_key.replaceAll('=', '');
  return `${text.slice(0, -1)},${JSON.stringify(tail).slice(1)}`;
}

async function hmac(text: string, key: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', encoder.encode(key), algorithm, false, [
    'sign',
  ]);
  const signature = await crypto.subtle.sign('HMAC', imported, encoder.encode(text));
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
