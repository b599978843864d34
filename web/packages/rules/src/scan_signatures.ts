/**
 * A device signs every scan when it makes it, so that nobody can change or invent one afterwards.
 *
 * Signed are five fields as JSON, in this order and without blanks, with exactly the texts that are
 * sent: HMAC-SHA256, whose key is the text of the device's API key.
 */

import { isSameText, utf8, type Bytes } from './bytes.ts';
import { signatureOf } from './crypto.ts';

/** As texts, for a moment or an id can be written in more ways than one. */
export interface SignedFields {
  scan_id: string;
  ticket_id: string | null;
  barcode_hash: string;
  scanned_at: string;
  gate_id: string | null;
}

export function signedBytes(fields: SignedFields): Bytes {
  const { scan_id, ticket_id, barcode_hash, scanned_at, gate_id } = fields;
  return utf8(JSON.stringify({ scan_id, ticket_id, barcode_hash, scanned_at, gate_id }));
}

export function signScan(fields: SignedFields, apiKey: string): Promise<string> {
  return signatureOf(signedBytes(fields), apiKey);
}

/** Only the one way of writing a signature is accepted. */
export async function isSignedBy(
  signature: string,
  fields: SignedFields,
  apiKey: string,
): Promise<boolean> {
  return isSameText(signature, await signScan(fields, apiKey));
}
