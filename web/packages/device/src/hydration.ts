/**
 * Fetches the manifest, or its changes. A manifest that is not signed for this device, is of another
 * event, or is older than the present one, is not kept.
 */
import type { Register as Lookup } from '@voelgoed/rules';
import {
  applyDelta,
  contentHash,
  cut,
  DeltaDoesNotFit,
  isDelta,
  parseMoment,
  readCodeKey,
  readManifest,
  Register,
  tagOf,
  verify,
} from '@voelgoed/rules';
import type { Core } from './core.ts';
import { ForgedManifest, KeyRefused, NoGate, ServerAway, UnreadableManifest } from './faults.ts';
import type { KeptManifest } from './kept.ts';
import { ask } from './keys.ts';
import type { Answered, Progress } from './link.ts';
import { require } from './link.ts';
import type { Tx } from './store.ts';
import { STATE_AND_MANIFEST } from './store.ts';

/** For all of it to arrive, over a bad line. */
const MANIFEST_MS = 300_000;

type Bytes = Uint8Array<ArrayBuffer>;

interface Verified {
  document: Bytes;
  codeKey: Bytes;
}

/** False where it has the newest manifest already. */
export async function hydrate(core: Core, onProgress: Progress = () => {}): Promise<boolean> {
  const version = core.register?.manifest.manifest_version ?? 0;
  const answered = await fetchManifest(core, version, onProgress, await tagOfKept(core));
  if (answered.status === 304) {
    await confirm(core);
    return false;
  }
  let verified = await verifiedOf(core, answered);
  if (isDelta(verified.document)) {
    verified = (await applied(core, verified)) ?? (await fetchWhole(core, onProgress));
  }
  await keep(core, verified);
  return true;
}

/** After a restored backup a version number may occur twice; the tag distinguishes them. */
async function tagOfKept(core: Core): Promise<string | null> {
  const [version, kept] = [core.register?.manifest.manifest_version, await core.store.manifest()];
  if (version === undefined || kept === null) return null;
  return tagOf(version, await contentHash(kept.document));
}

async function fetchManifest(
  core: Core,
  since: number,
  onProgress: Progress,
  tag: string | null = null,
): Promise<Answered> {
  const eventId = core.keyed.event_id;
  if (eventId === null) throw new NoGate();
  const path = `/api/scanning/events/${eventId}/manifest?since=${since}`;
  const headers: Record<string, string> = tag === null ? {} : { 'If-None-Match': tag };
  const request = { method: 'GET', path, waitMs: MANIFEST_MS, onProgress, headers } as const;
  return require(await ask(core, request), 200, 304);
}

async function fetchWhole(core: Core, onProgress: Progress): Promise<Verified> {
  const verified = await verifiedOf(core, await fetchManifest(core, 0, onProgress));
  if (isDelta(verified.document)) throw new ForgedManifest('older');
  return verified;
}

async function verifiedOf(core: Core, answered: Answered): Promise<Verified> {
  if (answered.apiKey === null) throw new ForgedManifest('signature');
  const parts = await verify(answered.body, answered.apiKey);
  // A page to sign in, or half of a list, is what networks do; nobody is accused for it.
  const isList = parts !== null || cut(answered.body) !== null;
  if (!isList) throw new ServerAway('That is no ticket list.');
  const codeKey = parts && readCodeKey(parts.tail);
  if (parts === null || codeKey === null) throw new ForgedManifest('signature');
  if (parts.tail.offset_seconds !== null) {
    await core.ledger.learn(parts.tail.offset_seconds, answered.roundTripMs);
  }
  return { document: parts.document, codeKey };
}

/** Null where it does not lead to what it says: then the whole is needed. */
async function applied(core: Core, delta: Verified): Promise<Verified | null> {
  const kept = await core.store.manifest();
  if (kept === null) return null;
  try {
    const document = await applyDelta(kept.document, delta.document);
    return { document, codeKey: delta.codeKey };
  } catch (fault) {
    if (fault instanceof DeltaDoesNotFit) return null;
    throw fault;
  }
}

async function keep(core: Core, { document, codeKey }: Verified): Promise<void> {
  const register = readable(document, codeKey);
  const { event_id, generated_at } = register.manifest;
  const kept = { document, code_key: codeKey, event_id, generated_at };
  let isChosen = false;
  while (!isChosen) isChosen = await layAndChoose(core, register, kept);
  core.register = register;
  await confirm(core);
  core.tell({ manifest: true });
  await core.ledger.trim(register, core.now());
}

/** False where another tab swept it away between the two. */
async function layAndChoose(core: Core, register: Lookup, kept: KeptManifest): Promise<boolean> {
  const { event_id, generated_at } = kept;
  const key = await core.store.layManifest(kept);
  try {
    return await core.store.write(async (tx) => {
      await refuseWhatIsNotOurs(tx, register);
      return await tx.chooseManifest({ key, event_id, generated_at });
    }, STATE_AND_MANIFEST);
  } catch (fault) {
    await core.store.sweepManifests(); // a device that was revoked meanwhile keeps no list
    throw fault;
  }
}

function readable(document: Bytes, codeKey: Bytes): Lookup {
  try {
    return new Register(readManifest(document), codeKey);
  } catch (fault) {
    throw new UnreadableManifest(fault instanceof Error ? fault.message : String(fault));
  }
}

/** Checks against the disk: another tab may have moved, hydrated or lost this device meanwhile. */
async function refuseWhatIsNotOurs(tx: Tx, { manifest, generatedAt }: Lookup): Promise<void> {
  const [identity, known] = await Promise.all([tx.state('identity'), tx.manifestHead()]);
  if (identity?.api_key === null) throw new KeyRefused('revoked');
  if (manifest.event_id !== identity?.event_id) throw new ForgedManifest('another_event');
  const isOlder =
    known !== null &&
    known.event_id === manifest.event_id &&
    generatedAt < parseMoment(known.generated_at);
  if (isOlder) throw new ForgedManifest('older');
}

/** The server has confirmed that this manifest is the newest. */
export async function confirm(core: Core): Promise<void> {
  const now = core.now();
  await core.store.write((tx) => tx.keep('confirmed', now));
  core.confirmedAt = now;
  core.changed();
}
