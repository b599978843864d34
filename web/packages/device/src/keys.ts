/** A device's key: how it gets the next one, and what becomes of it when the server will not have it. */
import type { Core } from './core.ts';
import type { KeyTrouble } from './faults.ts';
import { isOfDisk } from './faults.ts';
import type { Answered, Request } from './link.ts';
import { require } from './link.ts';
import type { Identity } from './model.ts';
import { isRecord, isText, shaped } from './shapes.ts';

const ROTATIONS = '/api/scanning/key-rotations';
/** For one request: a key whose answer was lost may itself be one that is to be changed. */
const RENEWALS_MAX = 2;

const readNewKey = shaped<{ data: { api_key: string } }>({
  data: (value) => isRecord(value) && isText(value['api_key']),
});

/**
 * With this device's key and clock. Where the key is to be changed, or was and the answer got lost, the
 * next one is asked for first.
 */
export async function ask(core: Core, request: Request): Promise<Answered> {
  let answered = await askOnce(core, request);
  for (let renewals = 0; renewals < RENEWALS_MAX; renewals += 1) {
    if (!(await mayAskAgain(core, answered))) break;
    answered = await askOnce(core, request);
  }
  return answered;
}

/** For what must not be repeated under another key. */
export async function askOnce(core: Core, request: Request, offsetMs?: number): Promise<Answered> {
  const answered = await core.askOnce(request, offsetMs);
  const trouble = answered.keyTrouble;
  if (trouble !== null) await weigh(core, answered, trouble);
  else if (answered.status < 400 && core.standing !== 'active') await stand(core, answered);
  return answered;
}

/** True where the key was refused and there is another one now. */
export async function mayAskAgain(core: Core, answered: Answered): Promise<boolean> {
  if (!(await isKeyOnItsWay(core, answered))) return false;
  await renewKey(core, answered);
  return true;
}

/** Gets the key after the one that was refused, if nobody here has it yet. */
export async function renewKey(core: Core, refused: Answered, waitMs?: number): Promise<void> {
  if (core.identity?.api_key === refused.apiKey) await rotate(core, waitMs);
}

/** The key was refused, and there is another, or somebody demands one, or it was asked for in vain. */
export async function isKeyOnItsWay(core: Core, answered: Answered): Promise<boolean> {
  if (answered.isRotationDemanded) return true;
  if (answered.keyTrouble === null || !core.identity?.api_key) return false;
  if (core.identity.api_key !== answered.apiKey) return true;
  return (await core.store.state('rotation')) !== null;
}

/** Its next key, asked for under an id that is kept until the key is. */
async function rotate(core: Core, waitMs?: number): Promise<void> {
  const before = core.keyed.api_key;
  await core.given.locks.request(`${core.given.databaseName}:key`, {}, async () => {
    await core.refresh();
    const identity = core.keyed;
    if (identity.api_key !== before) return; // another tab was first
    const body = JSON.stringify({ rotation_id: await rotationId(core) });
    const request = { method: 'POST', path: ROTATIONS, apiKey: before, body } as const;
    const answered = await core.link.ask(waitMs === undefined ? request : { ...request, waitMs });
    const trouble = answered.keyTrouble;
    if (trouble !== null) await lose(core, before, trouble);
    const { api_key } = require(answered, 201).read(readNewKey).data;
    await core.ledger.signAnew(api_key, async (tx) => {
      const present = (await tx.state('identity')) ?? identity;
      if (present.api_key !== before) return false; // paired anew meanwhile: that key is newer
      await tx.keep('identity', { ...present, api_key });
      await tx.keep('standing', 'active');
      await tx.forget('rotation');
      return true;
    });
    await core.refresh();
    core.tell({ state: true });
  });
}

async function rotationId(core: Core): Promise<string> {
  return await core.store.write(async (tx) => {
    const kept = await tx.state('rotation');
    const rotationId = kept ?? crypto.randomUUID();
    if (kept === null) await tx.keep('rotation', rotationId);
    return rotationId;
  });
}

/** A key that was refused may be one that has been replaced since, here or in another tab. */
async function weigh(core: Core, answered: Answered, trouble: KeyTrouble): Promise<void> {
  await core.refresh();
  if (answered.apiKey === null || core.identity?.api_key !== answered.apiKey) return;
  const isAskedFor = (await core.store.state('rotation')) !== null;
  if (trouble === 'key_rotated' && isAskedFor) return; // by us: the answer was lost
  await lose(core, answered.apiKey, trouble);
}

/**
 * The server will not have this key. Of a device that was revoked, all that somebody could misuse is
 * wiped; the scans stay. One that is only inactive may be active again tomorrow.
 */
async function lose(core: Core, apiKey: string, trouble: KeyTrouble): Promise<void> {
  await core.store.writeAll(async (tx) => {
    const identity = await tx.state('identity');
    if (identity?.api_key !== apiKey) return;
    await tx.keep('standing', trouble);
    if (trouble !== 'revoked') return;
    await tx.keep('identity', { ...identity, api_key: null });
    await tx.forget('rotation');
    await tx.forgetManifest();
  });
  await core.refresh();
  if (core.identity?.api_key === null) core.register = null;
  core.tell({ state: true, manifest: true });
}

/** Where that cannot be stored, the answer that it came with counts; the next one repeats it. */
async function stand(core: Core, answered: Answered): Promise<void> {
  try {
    await core.store.write(async (tx) => {
      const identity = await tx.state('identity');
      if (identity?.api_key === answered.apiKey) await tx.keep('standing', 'active');
    });
    await core.refresh();
    core.tell({ state: true });
  } catch (fault) {
    if (!isOfDisk(fault)) throw fault;
  }
}

/** A new identity, with all that waits signed for it. */
export async function become(core: Core, identity: Identity & { api_key: string }): Promise<void> {
  const before = await core.store.state('identity');
  const isOurs = before === null || before.organization_id === identity.organization_id;
  await core.ledger.signAnew(
    identity.api_key,
    async (tx) => {
      await tx.keep('identity', identity);
      await tx.keep('standing', 'active');
      await tx.forget('rotation');
      await tx.forget('station');
      const kept = await tx.manifestHead();
      if (kept !== null && kept.event_id !== identity.event_id) await tx.forgetManifest();
      return true;
    },
    isOurs,
  );
  await core.refresh();
  await core.loadRegister();
  core.tell({ state: true, manifest: true });
}
