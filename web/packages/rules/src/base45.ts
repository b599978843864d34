/**
 * Bytes in the alphabet of QR codes (RFC 9285). Every text that is read is the only one of its bytes:
 * groups that stand for no bytes are refused, and there is nothing to pad or to skip.
 */

import type { Bytes } from './bytes.ts';

export const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
const VALUES = new Map(Array.from(ALPHABET, (character, value) => [character, value]));

export function fromBase45(text: string): Bytes | null {
  const rest = text.length % 3;
  if (rest === 1) return null;
  const raw = new Uint8Array(Math.floor(text.length / 3) * 2 + (rest === 2 ? 1 : 0));
  for (let place = 0, at = 0; place < text.length; place += 3, at += 2) {
    const group = valueOf(text.slice(place, place + 3));
    const isWhole = place + 3 <= text.length;
    if (group === null || group > (isWhole ? 0xffff : 0xff)) return null;
    if (isWhole) raw.set([group >> 8, group & 0xff], at);
    else raw[at] = group;
  }
  return raw;
}

/** Of two or three characters, the lowest first. */
function valueOf(group: string): number | null {
  let value = 0;
  for (let place = group.length - 1; place >= 0; place--) {
    const digit = VALUES.get(group.charAt(place));
    if (digit === undefined) return null;
    value = value * ALPHABET.length + digit;
  }
  return value;
}
