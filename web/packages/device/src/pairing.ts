/** How a device becomes somebody's. */
import type { Core } from './core.ts';
import { APP_VERSION } from './core.ts';
import { Refused } from './faults.ts';
import { become } from './keys.ts';
import { require } from './link.ts';
import type { Identity } from './model.ts';
import { isText, shaped } from './shapes.ts';

const PAIR = '/api/scanning/pair';
const TOKEN_BYTES = 32;
const NOT_KNOWN = 'pairing_token_not_found';

type Paired = { [Name in keyof Identity]: string };

const readPaired = shaped<Paired>({
  api_key: isText,
  device_id: isText,
  name: isText,
  organization_id: isText,
  organization_name: isText,
  event_id: isText,
  gate_id: isText,
});

/** A device that was paired before keeps its id and its scans, which are signed again. */
export async function pair(core: Core, token: string): Promise<Identity> {
  const before = await core.store.state('identity');
  const given = {
    pairing_token: token.trim(),
    device_id: before?.device_id ?? null,
    app_version: APP_VERSION,
  };
  const body = JSON.stringify(given);
  const answered = await core.link.ask({ method: 'POST', path: PAIR, body });
  const paired = require(answered, 201).read(readPaired);
  const { api_key, device_id, name, organization_id, organization_name, event_id, gate_id } =
    paired;
  const identity = {
    api_key,
    device_id,
    name,
    organization_id,
    organization_name,
    event_id,
    gate_id,
  };
  await become(core, identity);
  return identity;
}

/** Who sees the challenge can approve this device; only who has the token gets the key. */
export async function makeChallenge(): Promise<{ token: string; challenge: string }> {
  const token = hex(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)));
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token));
  return { token, challenge: hex(new Uint8Array(hash)) };
}

export async function collect(core: Core, token: string): Promise<Identity | null> {
  try {
    return await pair(core, token);
  } catch (fault) {
    if (fault instanceof Refused && fault.refusal === NOT_KNOWN) return null;
    throw fault;
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
