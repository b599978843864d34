/**
 * The manifest as bytes: verified, and brought up to date by a delta.
 *
 * What a signature or a hash is about is written one way only: JSON without blanks, keys in the order
 * of docs/offline.md. So it can be cut at texts that occur in no string, where quotes are escaped, and
 * put together again to the byte without reading what stands between.
 */

import { fromBase64, isSameText, joined, textOf, toHex, utf8, type Bytes } from './bytes.ts';
import { sha256, signatureOf } from './crypto.ts';
import type { Tail } from './manifest_model.ts';

const HASH = 'sha256:';
const CODE_HASH_BYTES = 16;
const CODE_KEY_BYTES = 32;
const TAG_HASH_CHARACTERS = 16;
const HEAD = [
  'event_id',
  'event_name',
  'manifest_version',
  'generated_at',
  'expires_at',
  'occupancy',
] as const;
const SETTINGS = ['event', 'gates', 'zones', 'ticket_types', 'public_keys', 'seat_notes'] as const;
const TAIL = utf8(',"offset_seconds":');
const BRACE = utf8('}');
const DELTA_BEGINS = /^\{"event_id":"[^"\\]*","since":/;
const DELTA_BEGINS_WITHIN_BYTES = 100;
const SETTINGS_BEGIN = ',"event":{';
const TICKETS_BEGIN = ',"tickets":[';
const TICKETS_END = ']}';
const ENTRY_BEGINS = '{"ticket_id":"';
const ENTRY_ENDS = '}';
const BETWEEN_ENTRIES = `${ENTRY_ENDS},${ENTRY_BEGINS}`;
const TICKET_ID_CHARACTERS = 36;

/** What comes out is not the manifest that was meant: fetch it in full. */
export class DeltaDoesNotFit extends Error {
  override name = 'DeltaDoesNotFit';
}

export async function contentHash(document: Uint8Array): Promise<string> {
  return HASH + toHex(await sha256(document));
}

/** By which a whole manifest is known to the server. */
export function tagOf(version: number, hash: string): string {
  return `W/"${version}-${hash.slice(HASH.length, HASH.length + TAG_HASH_CHARACTERS)}"`;
}

export function barcodeHash(text: string): Promise<string> {
  return contentHash(utf8(text));
}

/** Under which a typed code is found. Without the key, which is in no manifest, codes cannot be tried
 * out. */
export async function codeHash(codeKey: Uint8Array, code: string): Promise<string> {
  return toHex((await sha256(joined(codeKey, utf8(code)))).subarray(0, CODE_HASH_BYTES));
}

/** Null where it is none. */
export function readCodeKey(tail: Tail): Bytes | null {
  if (!/^[\w-]*$/.test(tail.code_key)) return null;
  try {
    const key = fromBase64(tail.code_key.replaceAll('-', '+').replaceAll('_', '/'));
    return key.length === CODE_KEY_BYTES ? key : null;
  } catch {
    return null;
  }
}

/** What is signed, and what was added to it for this device. */
export function cut(body: Uint8Array): { document: Bytes; tail: Tail } | null {
  const at = lastIndexOf(body, TAIL);
  const tail = at > 0 ? readTail(body.subarray(at + 1)) : null;
  return tail && { document: joined(body.subarray(0, at), BRACE), tail };
}

/** The manifest, or the delta, if it was made for the device with this key. */
export async function verify(
  body: Uint8Array,
  apiKey: string,
): Promise<{ document: Bytes; tail: Tail } | null> {
  const parts = cut(body);
  if (parts === null) return null;
  const wanted = await signatureOf(parts.document, apiKey);
  return isSameText(parts.tail.signature, wanted) ? parts : null;
}

/** Of a document that was verified: how it begins is enough. */
export function isDelta(document: Uint8Array): boolean {
  const begin = String.fromCharCode(...document.subarray(0, DELTA_BEGINS_WITHIN_BYTES));
  return DELTA_BEGINS.test(begin);
}

/** The manifest that the delta leads to. */
export async function applyDelta(document: Uint8Array, delta: Uint8Array): Promise<Bytes> {
  const before = read(() => textOf(document));
  const changes = read(() => textOf(delta));
  const given = read(() => JSON.parse(changes) as Record<string, unknown> | null) ?? {};
  const settings = given['settings'] as Record<string, unknown> | undefined;
  const after = utf8(
    '{' +
      membersOf(given, HEAD) +
      (settings ? `,${membersOf(settings, SETTINGS)}` : settingsOf(before)) +
      TICKETS_BEGIN +
      merged(entriesOf(before), entriesOf(changes)) +
      TICKETS_END,
  );
  if ((await contentHash(after)) !== given['content_hash']) throw new DeltaDoesNotFit();
  return after;
}

function lastIndexOf(body: Uint8Array, part: Uint8Array): number {
  for (let at = body.length - part.length; at >= 0; at--) {
    if (part.every((byte, place) => body[at + place] === byte)) return at;
  }
  return -1;
}

function readTail(rest: Uint8Array): Tail | null {
  let tail: Record<string, unknown>;
  try {
    tail = JSON.parse(`{${textOf(rest)}`) as Record<string, unknown>;
  } catch {
    return null;
  }
  const { offset_seconds: offset, code_key: key, signature, ...others } = tail;
  const isTail =
    (offset === null || Number.isFinite(offset)) &&
    typeof key === 'string' &&
    typeof signature === 'string' &&
    Object.keys(others).length === 0;
  return isTail ? { offset_seconds: offset as number | null, code_key: key, signature } : null;
}

function read<T>(reading: () => T): T {
  try {
    return reading();
  } catch (cause) {
    throw new DeltaDoesNotFit('it cannot be read', { cause });
  }
}

function membersOf(given: Record<string, unknown>, names: readonly string[]): string {
  if (names.some((name) => given[name] === undefined)) throw new DeltaDoesNotFit();
  return names.map((name) => `"${name}":${JSON.stringify(given[name])}`).join(',');
}

/** With the comma before them. */
function settingsOf(manifest: string): string {
  return manifest.slice(manifest.indexOf(SETTINGS_BEGIN), manifest.indexOf(TICKETS_BEGIN));
}

/** Each from its ticket's id on, without the brace that it ends with. */
function entriesOf(document: string): string[] {
  const at = document.indexOf(TICKETS_BEGIN);
  if (at < 0 || !document.endsWith(TICKETS_END)) throw new DeltaDoesNotFit();
  const begin = at + TICKETS_BEGIN.length + ENTRY_BEGINS.length;
  const end = document.length - TICKETS_END.length - ENTRY_ENDS.length;
  return begin > end ? [] : document.slice(begin, end).split(BETWEEN_ENTRIES);
}

function merged(before: string[], changed: string[]): string {
  const byTicket = new Map<string, string>();
  for (const entry of before) byTicket.set(entry.slice(0, TICKET_ID_CHARACTERS), entry);
  for (const entry of changed) byTicket.set(entry.slice(0, TICKET_ID_CHARACTERS), entry);
  if (byTicket.size === 0) return '';
  return ENTRY_BEGINS + [...byTicket.values()].sort().join(BETWEEN_ENTRIES) + ENTRY_ENDS;
}
