import { fromHex, toHex, utf8, type Bytes } from './bytes.ts';

export const SCHEME = 'HMAC-SHA256=';
const KEPT_KEYS_MAX = 16;
const ANY_PUBLIC_KEY = fromHex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');

export async function sha256(bytes: Uint8Array): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Bytes));
}

/** The key is the text itself, as it was given to the device. */
export async function signatureOf(message: Uint8Array, apiKey: string): Promise<string> {
  const key = await kept(`hmac ${apiKey}`, () => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    return crypto.subtle.importKey('raw', utf8(apiKey), algorithm, false, ['sign']);
  });
  return SCHEME + toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, message as Bytes)));
}

/** False also where the key is none, or where this browser has no Ed25519. */
export async function isSignedByKey(
  publicKey: Uint8Array,
  signature: Uint8Array,
  message: Uint8Array,
): Promise<boolean> {
  try {
    const key = await ed25519Key(publicKey);
    return await crypto.subtle.verify('Ed25519', key, signature as Bytes, message as Bytes);
  } catch {
    return false;
  }
}

/** Browsers have it since 2023 (Safari), 2024 (Firefox) and 2025 (Chrome). */
export async function hasEd25519(): Promise<boolean> {
  return ed25519Key(ANY_PUBLIC_KEY).then(
    () => true,
    () => false,
  );
}

function ed25519Key(publicKey: Uint8Array): Promise<CryptoKey> {
  return kept(`ed25519 ${toHex(publicKey)}`, () =>
    crypto.subtle.importKey('raw', publicKey as Bytes, 'Ed25519', false, ['verify']),
  );
}

const keys = new Map<string, CryptoKey>();

/** To import a key takes longer than to use it. */
async function kept(name: string, imported: () => Promise<CryptoKey>): Promise<CryptoKey> {
  const known = keys.get(name);
  if (known) return known;
  const key = await imported();
  for (const oldest of keys.keys()) {
    if (keys.size < KEPT_KEYS_MAX) break;
    keys.delete(oldest);
  }
  keys.set(name, key);
  return key;
}
