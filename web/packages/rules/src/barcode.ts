/**
 * The text in a ticket's QR code, signed so that a device alone can tell that it is one of ours.
 *
 * `VG1`, the twelve symbols of the code, and in base45 a payload and its Ed25519 signature. Big endian:
 *
 *     1 key number      16 ticket id    2 issue         2 ticket type number
 *     2 zone number      4 event hint   8 days          1 length of, and the seat label
 */

import { fromBase45 } from './base45.ts';
import { fromHex, joined, textOf, toHex, utf8, type Bytes } from './bytes.ts';
import { isSignedByKey, sha256 } from './crypto.ts';

export const PREFIX = 'VG1';
const DOMAIN = utf8('voelgoed-ticket-1\0');
const SIGNATURE_BYTES = 64;
const HINT_BYTES = 4;
const HEAD_BYTES = 36;
const LABEL_BYTES_MAX = 32;
const DAYS_MAX = 60;
/** No barcode of ours has as many, and nobody is to make us decode more. */
const CHARACTERS_MAX = 300;
const FORM = new RegExp(`^${PREFIX}([A-Z0-9]{4})([A-Z0-9]{4})([A-Z0-9]{4})(.*)$`, 's');

export interface BarcodeFields {
  /** Of the event's key that signs. */
  key_number: number;
  ticket_id: string;
  issue: number;
  ticket_type_number: number;
  /** The zone's place in the layout, counted from 1; 0 for none. */
  zone_number: number;
  /** Places of its days among the event's, from 0; none: all of them. */
  days: number[];
  seat_label: string;
}

/** A text of the right form. Only `verifyBarcode` checks whether it is genuine. */
export interface Barcode {
  code: string;
  fields: BarcodeFields;
  /** Tells a barcode of another event from a forged one; proves nothing. In hex. */
  event_hint: string;
  /** All of the fields, as they are signed. */
  payload: Bytes;
  signature: Bytes;
}

/** Null for any text that the server does not write, letter for letter. */
export function readBarcode(text: string): Barcode | null {
  const found = text.length > CHARACTERS_MAX ? null : FORM.exec(text);
  const raw = found && fromBase45(found[4] ?? '');
  if (!raw || raw.length < HEAD_BYTES + SIGNATURE_BYTES) return null;
  const payload = raw.slice(0, -SIGNATURE_BYTES);
  const fields = readPayload(payload);
  return (
    fields && {
      code: found.slice(1, 4).join('-'),
      fields,
      event_hint: toHex(payload.subarray(23, 23 + HINT_BYTES)),
      payload,
      signature: raw.slice(-SIGNATURE_BYTES),
    }
  );
}

/** Signed for this event, by the key of that number. */
export async function verifyBarcode(
  barcode: Barcode,
  eventId: string,
  publicKeys: ReadonlyMap<number, Uint8Array>,
): Promise<boolean> {
  const publicKey = publicKeys.get(barcode.fields.key_number);
  if (!publicKey || barcode.event_hint !== (await eventHint(eventId))) return false;
  const symbols = utf8(barcode.code.replaceAll('-', ''));
  const message = joined(DOMAIN, uuidBytes(eventId), symbols, barcode.payload);
  return isSignedByKey(publicKey, barcode.signature, message);
}

/** In hex. */
export async function eventHint(eventId: string): Promise<string> {
  return toHex((await sha256(uuidBytes(eventId))).subarray(0, HINT_BYTES));
}

function readPayload(payload: Bytes): BarcodeFields | null {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const label = payload.subarray(HEAD_BYTES);
  const days = view.getBigUint64(27);
  const numbers = {
    key_number: view.getUint8(0),
    issue: view.getUint16(17),
    ticket_type_number: view.getUint16(19),
  };
  const fits =
    Object.values(numbers).every((number) => number >= 1) &&
    days >> BigInt(DAYS_MAX) === 0n &&
    label.length === view.getUint8(35) &&
    label.length <= LABEL_BYTES_MAX;
  const seatLabel = fits ? readLabel(label) : null;
  if (seatLabel === null) return null;
  return {
    ...numbers,
    ticket_id: uuidText(payload.subarray(1, 17)),
    zone_number: view.getUint16(21),
    days: placesOf(days),
    seat_label: seatLabel,
  };
}

function readLabel(label: Uint8Array): string | null {
  try {
    return textOf(label);
  } catch {
    return null;
  }
}

function placesOf(mask: bigint): number[] {
  const places = Array.from({ length: DAYS_MAX }, (_, place) => place);
  return places.filter((place) => (mask >> BigInt(place)) & 1n);
}

function uuidBytes(uuid: string): Bytes {
  return fromHex(uuid.replaceAll('-', ''));
}

function uuidText(bytes: Uint8Array): string {
  return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
