/**
 * A scan: the server is asked, and when it does not answer in time, or something else answers in its
 * place, the device decides.
 *
 * One scan has one id, whether the server or the device decides it. Each scan is on the disk before its
 * verdict is shown. A scan whose answer was lost is delivered again with the others.
 */
import type { Decision, Direction, Moment, Outcome, Shown, Undecided } from '@voelgoed/rules';
import {
  barcodeHash,
  decideOffline,
  lacking,
  momentText,
  placeOf,
  readMoment,
} from '@voelgoed/rules';
import type { Reading } from './clock.ts';
import { MICROSECONDS_PER_MS } from './clock.ts';
import type { Core } from './core.ts';
import { DeviceFault, KeyRefused, NothingRead, ServerAway } from './faults.ts';
import { askOnce, isKeyOnItsWay, renewKey } from './keys.ts';
import type { Added } from './ledger.ts';
import { signed } from './ledger.ts';
import type { Answered } from './link.ts';
import { require } from './link.ts';
import type { LoggedScan, ScanAnswer } from './model.ts';
import type { Heard } from './online_answer.ts';
import { NOTHING_SHOWN, readOnlineAnswer, toHeard } from './online_answer.ts';
import { isText } from './shapes.ts';
import { firstOf } from './texts.ts';

const SCANS = '/api/scans';
/** Characters. No code or barcode of ours has as many. */
export const PRESENTED_MAX = 300;
/** Where this device could only say that it cannot decide, it is worth waiting for who can. */
export const UNDECIDED_WAIT_MS = 10_000;
/** A scan that is answered was written by then. A manifest that was made in between may not know it. */
const COMMITTED_AFTER_US = 2_000_000;

const UNDECIDED: { [Each in Undecided | 'no_manifest']: Outcome } = {
  manifest_expired: 'expired',
  gate_unknown: 'gate_access_denied',
  no_manifest: 'invalid',
};

interface Attempt {
  scan_id: string;
  text: string;
  direction: Direction;
  /** By the device's clock. */
  reading: Reading;
}

export async function scan(
  core: Core,
  text: string,
  direction: Direction,
  isOffline: boolean,
): Promise<ScanAnswer> {
  core.keyed; // a device that is nobody's says so before anything else
  const attempt = await attempted(core, text, direction);
  const isAlonePossible = lacked(core, attempt) === null;
  if (!isOffline && !(isAlonePossible && core.breaker.isOpen)) {
    const waitMs = isAlonePossible
      ? core.onlineWaitMs
      : Math.max(core.onlineWaitMs, UNDECIDED_WAIT_MS);
    try {
      const heard = await ask(core, attempt, waitMs);
      if (heard !== null) return await keepHeard(core, attempt, heard);
    } catch (fault) {
      if (!(fault instanceof ServerAway)) throw fault;
      if (core.reach === 'degraded') core.breaker.waited();
    }
  }
  if (core.standing !== 'active') throw new KeyRefused(core.standing);
  return await decideAlone(core, attempt);
}

/** As it would be decided here. Nothing is kept. */
export async function practise(
  core: Core,
  text: string,
  direction: Direction,
): Promise<ScanAnswer> {
  const attempt = await attempted(core, text, direction);
  const at = core.clock.corrected(attempt.reading);
  return answerOf(attempt, at, await decided(core, attempt, at));
}

async function attempted(core: Core, text: string, direction: Direction): Promise<Attempt> {
  const whole = new TextDecoder().decode(new TextEncoder().encode(text)); // without half characters
  if (whole.trim() === '') throw new NothingRead();
  const reading = await core.ledger.read();
  return { scan_id: crypto.randomUUID(), text: whole, direction, reading };
}

/** What this device lacks to decide about anybody; null where it can. */
function lacked(core: Core, { direction, reading }: Attempt): Undecided | 'no_manifest' | null {
  if (core.register === null) return 'no_manifest';
  const gate = core.identity?.gate_id ?? '';
  return lacking(core.register, { gate, direction, at: core.clock.corrected(reading) });
}

/** Null where it is for the device to decide. */
async function ask(core: Core, attempt: Attempt, waitMs: number): Promise<Heard | null> {
  const body = JSON.stringify({
    ticket_code: firstOf(attempt.text, PRESENTED_MAX),
    device_id: core.keyed.device_id,
    scanned_at: momentText(momentAsked(core, attempt)),
    scan_id: attempt.scan_id,
    direction: attempt.direction,
  });
  const request = { method: 'POST', path: SCANS, body, waitMs } as const;
  let answered = await askOnce(core, request);
  if (answered.isRotationDemanded) {
    await renewKey(core, answered, waitMs);
    answered = await askOnce(core, request);
  }
  if (await isKeyOnItsWay(core, answered)) return null; // nobody at a gate waits for it
  if (isLeftToUs(answered)) {
    await learnFrom(core, attempt, answered);
    return null;
  }
  const heard = toHeard(require(answered, 200, 404).read(readOnlineAnswer));
  if (heard.scan_id !== attempt.scan_id) throw new ServerAway('That answers another scan.');
  return heard;
}

/**
 * The server refuses moments of a clock that is minutes off. Where the error is measured, the request
 * has the corrected moment; the signature always covers the clock's own.
 */
function momentAsked(core: Core, { reading }: Attempt): Moment {
  return core.clock.isSure ? core.clock.corrected(reading) : reading.ms * MICROSECONDS_PER_MS;
}

/**
 * A refusal is no verdict. Whether the code is unknown, the clock minutes off or the body unreadable, the
 * scan is decided here and delivered with the others. Only a device that may not scan at all stops.
 */
function isLeftToUs(answered: Answered): boolean {
  const isVerdict = [200, 404].includes(answered.status);
  const isStop = answered.keyTrouble !== null || answered.status === 403;
  return answered.isRefusalOfOurs && !isVerdict && !isStop;
}

async function learnFrom(core: Core, attempt: Attempt, answered: Answered): Promise<void> {
  const serverTime = answered.error.details['server_time'];
  const at = isText(serverTime) ? readMoment(serverTime) : null;
  if (at === null) return;
  const offsetMs = at / MICROSECONDS_PER_MS - attempt.reading.ms;
  await core.ledger.learn(offsetMs / 1_000, answered.roundTripMs);
}

async function keepHeard(core: Core, attempt: Attempt, heard: Heard): Promise<ScanAnswer> {
  const { at, outcome, reason, ticket_id, entry_number, left_at, may_return_at } = heard;
  const isKept = await writeDown(core, attempt, heard);
  return {
    scan_id: attempt.scan_id,
    at,
    direction: attempt.direction,
    outcome,
    colour: outcome === 'valid' ? 'green' : 'red',
    reason,
    why: 'online',
    ticket_id,
    entry_number,
    left_at,
    may_return_at,
    shown: await shownFor(core, attempt, heard),
    ...(isKept ? {} : { is_unkept: true }),
  };
}

/**
 * False where that could not be done. The server has decided, and has the scan on its own disk: the
 * person is in, and a red light would only make them a duplicate at another gate. Until the app is
 * closed this device knows of it all the same.
 */
async function writeDown(core: Core, attempt: Attempt, heard: Heard): Promise<boolean> {
  const { at, outcome, reason, ticket_id } = heard;
  const entry = ticket_id === null ? undefined : core.register?.byTicket.get(ticket_id);
  const barcode_hash = entry?.barcode_hash ?? (await barcodeHash(attempt.text));
  try {
    const logged: LoggedScan = {
      ...draftOf(core, attempt, { at, outcome, reason, ticket_id }),
      barcode_hash,
      gate_id: heard.gate_id ?? core.gateId,
      sync_status: 'synced',
      synced_at: momentText(at + COMMITTED_AFTER_US),
    };
    core.ledger.remember(logged);
    await keep(core, logged, (scan, apiKey) => core.ledger.addHeard(scan, apiKey));
    return true;
  } catch (fault) {
    if (!(fault instanceof DeviceFault)) throw fault;
    return false;
  }
}

/**
 * A seat has one name, with a network and without: that of the ticket list. A denial of the server has
 * no seat; the list has it, so that staff can help.
 */
async function shownFor(core: Core, { text }: Attempt, heard: Heard): Promise<Shown> {
  const { shown, ticket_id } = heard;
  if (core.register === null) return shown;
  if (ticket_id === null) return { ...shown, ...(await placeOf(core.register, text)) };
  const entry = core.register.byTicket.get(ticket_id);
  return { ...shown, seat: shown.seat && (entry?.seat ?? shown.seat) };
}

/** Decided by all that is known when it is written: also by what another tab has just done. */
async function decideAlone(core: Core, attempt: Attempt): Promise<ScanAnswer> {
  for (;;) {
    const horizon = core.ledger.horizon(attempt.reading);
    const at = core.clock.corrected(attempt.reading);
    const gateId = core.gateId;
    const decision = await decided(core, attempt, at);
    const answer = answerOf(attempt, at, decision);
    const logged: LoggedScan = {
      ...draftOf(core, attempt, answer),
      barcode_hash:
        typeof decision === 'object' ? decision.barcode_hash : await barcodeHash(attempt.text),
      gate_id: gateId,
    };
    const isKept = await keep(core, logged, (scan, apiKey) =>
      core.ledger.addOwn(scan, apiKey, attempt.reading, horizon),
    );
    if (isKept) return answer;
  }
}

async function decided(
  core: Core,
  { text, direction }: Attempt,
  at: Moment,
): Promise<Decision | Undecided | 'no_manifest'> {
  if (core.register === null) return 'no_manifest';
  const about = { gate: core.gateId, direction, at, own: core.ledger.own };
  return await decideOffline(core.register, text, about);
}

function answerOf(
  { scan_id, direction }: Attempt,
  at: Moment,
  decision: Decision | Undecided | 'no_manifest',
): ScanAnswer {
  const said = { scan_id, at, direction };
  if (typeof decision === 'string') {
    return {
      ...said,
      outcome: UNDECIDED[decision],
      colour: 'red',
      reason: null,
      why: decision,
      ticket_id: null,
      entry_number: null,
      left_at: null,
      may_return_at: null,
      shown: NOTHING_SHOWN,
    };
  }
  return {
    ...said,
    outcome: decision.outcome,
    colour: decision.colour === 'green' ? 'yellow' : 'red',
    reason: decision.verdict.reason,
    why: 'offline',
    ticket_id: decision.ticket_id,
    entry_number: decision.verdict.entry_number,
    left_at: decision.verdict.left_at,
    may_return_at: decision.verdict.may_return_at,
    shown: decision.shown,
  };
}

type Said = Pick<ScanAnswer, 'at' | 'outcome' | 'reason' | 'ticket_id'>;

/** All fields except those that say who decided. */
function draftOf(core: Core, attempt: Attempt, said: Said) {
  const isListed = said.ticket_id !== null && core.register?.byTicket.has(said.ticket_id);
  return {
    scan_id: attempt.scan_id,
    ticket_id: said.ticket_id,
    barcode: attempt.text,
    scanned_at: momentText(attempt.reading.ms * MICROSECONDS_PER_MS),
    scanned_at_corrected: momentText(said.at),
    is_measured: false,
    direction: attempt.direction,
    outcome: said.outcome,
    reason: said.reason,
    ticket_code: isListed ? null : sendable(attempt.text),
    signature: '',
    sync_status: 'pending' as const,
    retry_count: 0,
    refusal_count: 0,
    last_error: null,
    synced_at: null,
    place: 0,
  };
}

/** Signed with the key of that moment. False where more is known now and it is to be decided again. */
async function keep(
  core: Core,
  logged: LoggedScan,
  add: (scan: LoggedScan, apiKey: string) => Promise<Added>,
): Promise<boolean> {
  for (;;) {
    const apiKey = core.keyed.api_key;
    const added = await add(await signed(logged, apiKey), apiKey);
    if (added !== 'key') return added === 'added';
    await core.refresh();
  }
}

/** What the server would not read at all is known by its hash only. */
function sendable(text: string): string | null {
  const isWhole = firstOf(text, PRESENTED_MAX) === text;
  return isWhole && !text.includes('\0') ? text : null;
}
