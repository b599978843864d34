import { expect, test } from 'vitest';
import { fromHex, utf8 } from './bytes.ts';
import type { Manifest } from './manifest_model.ts';
import { readManifest, Register, UnreadableManifest } from './register.ts';
import { partOf } from './testing.ts';

const { manifest } = partOf<{ manifest: Manifest }>('offline_decisions', 'base');
const KEY = fromHex('00'.repeat(32));
const ticket = manifest.tickets[0]!;

function readAgain(changes: object): Manifest {
  return readManifest(utf8(JSON.stringify({ ...manifest, ...changes })));
}

test('a manifest is read unchanged, with fields that are not known yet', () => {
  const newer = { tomorrow: 1, tickets: [{ ...ticket, colour: 'blue' }] };
  expect(readAgain(newer)).toEqual({ ...manifest, ...newer });
});

test.each<[string, object]>([
  ['without tickets', { tickets: undefined }],
  ['of an event of which nobody knows what it does', { event: { ...manifest.event, status: '?' } }],
  ['whose version is a text', { manifest_version: '7' }],
  ['made at no moment', { generated_at: '2026-06-05' }],
  ['with a gate that has no rules', { gates: [{ ...manifest.gates[0], access_rules: null }] }],
  ['with a ticket that is null', { tickets: [null] }],
  ['with a ticket without an id', { tickets: [{ ...ticket, ticket_id: undefined }] }],
  ['with a ticket of an unknown status', { tickets: [{ ...ticket, status: 'lent' }] }],
  ['with a ticket scanned at no moment', { tickets: [{ ...ticket, last_scanned_at: 'noon' }] }],
  ['with gates that are no list', { tickets: [{ ...ticket, gate_ids: 'north' }] }],
])('a manifest %s is refused', (_, changes) => {
  expect(() => readAgain(changes)).toThrow(UnreadableManifest);
});

test('a text that is not JSON in UTF-8 is refused', () => {
  for (const bytes of [utf8(''), utf8('{'), utf8('null'), utf8('[]'), Uint8Array.of(0x22, 0xff)]) {
    expect(() => readManifest(bytes)).toThrow(UnreadableManifest);
  }
});

test('a manifest whose tickets are of no type, or with a key that is none, makes no register', () => {
  const noTypes = readAgain({ ticket_types: [] });
  expect(() => new Register(noTypes, KEY)).toThrow(UnreadableManifest);
  const noKey = readAgain({ public_keys: [{ number: 1, public_key: '!' }] });
  expect(() => new Register(noKey, KEY)).toThrow(UnreadableManifest);
});

test('tickets are found by id, barcode and code, gates by code and id', () => {
  const register = new Register(manifest, KEY);
  expect(register.byTicket.get(ticket.ticket_id)).toBe(ticket);
  expect(register.byBarcode.get(ticket.barcode_hash)).toBe(ticket);
  expect(register.byCode.get(ticket.code_hash)).toBe(ticket);
  const [gate] = manifest.gates;
  expect(register.gates.get(gate!.gate_id)).toBe(gate);
  expect(register.gates.get(gate!.id)).toBe(gate);
});
