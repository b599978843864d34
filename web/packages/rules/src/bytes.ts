export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
// A byte order mark is a letter like any other, also in a seat's label.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Half a surrogate pair, which has no bytes, becomes the replacement character. */
export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** Throws a TypeError where it is not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function fromHex(hex: string): Bytes {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Throws where it is not base64. */
export function fromBase64(text: string): Bytes {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

export function joined(...parts: Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** It takes the same time however much of it is right; its right length is no secret. */
export function isSameText(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let place = 0; place < one.length; place++) {
    difference |= one.charCodeAt(place) ^ other.charCodeAt(place);
  }
  return difference === 0;
}
