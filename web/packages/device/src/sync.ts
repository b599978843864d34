/**
 * Delivers waiting scans to the server, fifty at a time and in their order.
 *
 * A batch without an answer is sent again byte for byte and under its id, so that it is one batch however
 * often it arrives. Scans that the server rejects are kept, with the reason.
 */
import { isSignedBy, parseMoment } from '@voelgoed/rules';
import type { Core } from './core.ts';
import { DeviceFault, Refused, ServerAway } from './faults.ts';
import { compareClocks } from './heartbeat.ts';
import { askOnce, mayAskAgain } from './keys.ts';
import { offsetMsOf, signedFields } from './ledger.ts';
import type { Answered } from './link.ts';
import { require } from './link.ts';
import type { Exportable, LoggedScan, Outgoing, SyncReport } from './model.ts';
import type { Synced } from './sync_answer.ts';
import { acknowledged, again, readSynced, refused } from './sync_answer.ts';

const SYNC = '/api/scanning/sync';
const TOGETHER_MAX = 50;
/** Of one batch; then later again. */
export const ATTEMPTS_MAX = 5;
const BACKOFF_MS = [1_000, 2_000, 4_000, 8_000, 16_000];
const WAIT_MS_MAX = 30_000;
/** How often in a row it waits because the server asked it to. */
const BUSY_MAX = 20;
/** The limit of answers in a row that name no scan. */
const FRUITLESS_MAX = 20;
/** The server cannot read something in it; a smaller batch shows in which scan. */
const UNREADABLE = [400, 413];

/** Nobody waits for it any more. */
class Stopped extends ServerAway {}

/** All that waits, or as much as the server takes; by one tab at a time. */
export async function sync(core: Core, signal?: AbortSignal): Promise<SyncReport> {
  return await alone(core, (report) => bringAll(core, report, signal));
}

/** What two tabs must not do at once. */
export async function alone(
  core: Core,
  work: (report: SyncReport) => Promise<void>,
): Promise<SyncReport> {
  const report: SyncReport = {
    synced: 0,
    failed: 0,
    left: 0,
    requests: 0,
    conflicts: [],
    unverified: [],
    reason: null,
  };
  const name = `${core.given.databaseName}:sync`;
  let isTold = false;
  await core.given.locks.request(name, { ifAvailable: true }, async (lock) => {
    try {
      if (lock === null) report.reason = core.isSending ? 'sending' : 'busy';
      else await hold(core, () => work(report));
    } catch (fault) {
      if (!(fault instanceof DeviceFault)) throw fault;
      report.reason = fault instanceof Stopped ? 'stopped' : fault.code;
    }
    if (lock !== null) isTold = report.requests > 0 || report.reason !== null;
  });
  await core.recount();
  report.left = core.counts.pending;
  if (isTold) core.report(report);
  return report;
}

async function hold(core: Core, work: () => Promise<void>): Promise<void> {
  core.isSending = true;
  try {
    await work();
  } finally {
    core.isSending = false;
    core.syncing = null;
  }
}

async function bringAll(core: Core, report: SyncReport, signal?: AbortSignal): Promise<void> {
  core.keyed;
  await core.recount();
  if (core.counts.pending > 0) await compareClocks(core);
  let most = TOGETHER_MAX;
  let fruitless = 0;
  for (;;) {
    showProgress(core, report);
    const batch = (await core.store.state('outgoing')) ?? (await next(core, most));
    if (batch === null) return;
    const settled = report.synced + report.failed;
    const answered = await send(core, batch, report, signal);
    if (answered === null) continue;
    if (answered.status === 200) {
      await settle(core, batch, answered.read(readSynced), report);
    } else {
      await withdraw(core, batch, answered, report);
    }
    most = mostAfter(batch, answered, most);
    fruitless = report.synced + report.failed === settled ? fruitless + 1 : 0;
    if (fruitless === FRUITLESS_MAX) {
      throw new Refused(answered.error.error || 'fruitless', answered.error.message);
    }
    // A smaller batch is something new; the same again is not, and the server has others to answer.
    const isSmaller = most < batch.scan_ids.length;
    if (fruitless > 0 && !isSmaller) await core.rest(backoffMs(core, fruitless), { signal });
  }
}

/** Where something in a batch cannot be read, the next one has half of it. */
function mostAfter(batch: Outgoing, { status }: Answered, before: number): number {
  if (UNREADABLE.includes(status)) return Math.max(Math.floor(batch.scan_ids.length / 2), 1);
  return status === 200 ? TOGETHER_MAX : before;
}

export function showProgress(core: Core, report: SyncReport): void {
  const done = report.synced + report.failed;
  const total = Math.max(core.syncing?.total ?? 0, done + core.counts.pending);
  core.syncing = total === 0 ? null : { done, total };
  core.changed();
}

/** Scans that were read from the same clock: a batch has one offset. */
async function next(core: Core, most: number): Promise<Outgoing | null> {
  for (;;) {
    const { api_key, device_id } = core.keyed;
    const scans = sameClock(await core.store.scans('pending', most));
    const batch = batchOf(device_id, scans);
    if (batch === null) return null;
    const isKept = await core.store.write(async (tx) => {
      const identity = await tx.state('identity');
      if (identity?.api_key !== api_key) return false; // all was signed anew meanwhile
      await tx.keep('outgoing', batch);
      return true;
    });
    if (isKept) return batch;
    await core.refresh();
  }
}

function batchOf(device_id: string, scans: LoggedScan[]): Outgoing | null {
  const [first] = scans;
  if (first === undefined) return null;
  const batch_id = crypto.randomUUID();
  const offset_ms = offsetMsOf(first);
  const body = JSON.stringify({
    device_id,
    sync_batch_id: batch_id,
    offset_seconds: offset_ms / 1_000,
    scans: scans.map(told),
  });
  return { batch_id, body, scan_ids: scans.map((scan) => scan.scan_id), offset_ms };
}

export function sameClock(scans: LoggedScan[]): LoggedScan[] {
  const [first] = scans;
  if (first === undefined) return [];
  const other = scans.findIndex((scan) => offsetMsOf(scan) !== offsetMsOf(first));
  return other < 0 ? scans : scans.slice(0, other);
}

/** With exactly the texts that are signed. */
export function told(scan: Exportable): object {
  const { outcome, signature, direction, ticket_code } = scan;
  const fields = { ...signedFields(scan), outcome, signature, direction };
  return ticket_code === null ? fields : { ...fields, ticket_code };
}

/**
 * An answer of the server to the batch; else ServerAway, after the allowed attempts. Null where the key
 * was rotated: a batch that was signed with the old key is not sent under the new one.
 */
async function send(
  core: Core,
  batch: Outgoing,
  report: SyncReport,
  signal?: AbortSignal,
): Promise<Answered | null> {
  let fault = new ServerAway();
  for (let busy = 0, failed = 0; failed < ATTEMPTS_MAX && busy < BUSY_MAX;) {
    if (signal?.aborted) throw new Stopped();
    if ((await core.store.state('outgoing'))?.batch_id !== batch.batch_id) return null;
    try {
      report.requests += 1;
      const request = { method: 'POST', path: SYNC, body: batch.body, signal } as const;
      const answered = await askOnce(core, request, batch.offset_ms);
      if (await mayAskAgain(core, answered)) return null;
      // Of something else on the way, what it asks for is no more than a failure.
      if (answered.status === 429 && answered.isRefusalOfOurs && answered.retryAfterMs !== null) {
        busy += 1;
        fault = new ServerAway(answered.error.message);
        const ms = answered.retryAfterMs + core.given.random() * 1_000;
        await core.rest(ms, { isAskedFor: true, signal });
        continue;
      }
      const isWithdrawn = [409, ...UNREADABLE].includes(answered.status);
      // What came but in part did not come.
      if (!isWithdrawn || !answered.isRefusalOfOurs) require(answered, 200).read(readSynced);
      return answered;
    } catch (away) {
      if (!(away instanceof ServerAway)) throw away;
      fault = away;
    }
    await core.ledger.change(batch.scan_ids, (scan) => again(scan, fault.message));
    failed += 1;
    if (failed < ATTEMPTS_MAX) await core.rest(backoffMs(core, failed), { signal });
  }
  throw fault;
}

/** With luck in it, so that devices which lost the server together do not return together. */
function backoffMs(core: Core, failed: number): number {
  const ms = BACKOFF_MS[failed - 1] ?? WAIT_MS_MAX;
  return Math.min(ms * (0.5 + core.given.random()), WAIT_MS_MAX);
}

/** What the server does not name waits on, and goes with another batch. */
async function settle(
  core: Core,
  batch: Outgoing,
  answer: Synced,
  report: SyncReport,
): Promise<void> {
  const done = new Set([...answer.processed, ...answer.skipped]);
  const rejected = new Map(answer.rejected.map((each) => [each.scan_id, each]));
  const spoilt = await spoiltOnTheWay(core, answer);
  await close(core, batch, report, (scan) => {
    const no = rejected.get(scan.scan_id);
    if (done.has(scan.scan_id)) return acknowledged(scan, answer);
    if (no === undefined) return again(scan, 'The server did not name it.');
    const said = `${no.error}: ${no.message}`;
    const isSentAgain = spoilt.has(scan.signature) && scan.refusal_count < ATTEMPTS_MAX;
    return isSentAgain ? refused(scan, said) : { ...scan, sync_status: 'failed', last_error: said };
  });
  for (const { scan_id } of answer.conflicts) {
    // Whom this device denied the server denies too: they agree. What another device decided is not
    // this one's result.
    const scan = await core.store.scan(scan_id);
    if (scan?.outcome === 'valid') report.conflicts.push(scan_id);
  }
  report.unverified.push(...(answer.unverified ?? []));
  const at = parseMoment(answer.server_time);
  await core.store.write((tx) => tx.keep('last_sync', at));
  core.lastSyncAt = at;
  core.tell({ state: true });
}

/** Signatures that are right here though the server found them wrong. */
async function spoiltOnTheWay(core: Core, answer: Synced): Promise<Set<string>> {
  const right = new Set<string>();
  if (answer.rejected.length > 0) await core.refresh(); // another tab may have got another key
  for (const { scan_id, error } of answer.rejected) {
    const scan = error === 'invalid_signature' ? await core.store.scan(scan_id) : null;
    if (scan === null) continue;
    const isOurs = await isSignedBy(scan.signature, signedFields(scan), core.keyed.api_key);
    if (isOurs) right.add(scan.signature);
  }
  return right;
}

async function close(
  core: Core,
  batch: Outgoing,
  report: SyncReport,
  change: (scan: LoggedScan) => LoggedScan,
): Promise<void> {
  const changed = await core.ledger.change(batch.scan_ids, change, async (tx) => {
    const outgoing = await tx.state('outgoing');
    if (outgoing?.batch_id === batch.batch_id) await tx.forget('outgoing');
  });
  report.synced += changed.filter((scan) => scan.sync_status === 'synced').length;
  report.failed += changed.filter((scan) => scan.sync_status === 'failed').length;
}

/**
 * The server will not have this batch as it is: its scans go with others. One that is refused alone,
 * again and again, is the reason.
 */
async function withdraw(
  core: Core,
  batch: Outgoing,
  answered: Answered,
  report: SyncReport,
): Promise<void> {
  const { error, message } = answered.error;
  const said = `${error}: ${message}`;
  const isAlone = UNREADABLE.includes(answered.status) && batch.scan_ids.length === 1;
  await close(core, batch, report, (scan) => {
    if (!isAlone) return again(scan, said);
    const after = refused(scan, said);
    return after.refusal_count < ATTEMPTS_MAX ? after : { ...after, sync_status: 'failed' };
  });
}
