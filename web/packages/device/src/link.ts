/** The way to the server. What does not arrive whole did not arrive. */
import type { KeyTrouble } from './faults.ts';
import { KeyRefused, Refused, ServerAway } from './faults.ts';
import type { Reach } from './model.ts';
import type { DeviceOptions } from './options.ts';
import type { Reader } from './shapes.ts';
import { isRecord, isText } from './shapes.ts';

const ANSWER_MS = 30_000;
/** Whatever takes longer is no network to rely on at a gate. */
const SLOW_MS = 1_500;
/** Smaller bodies fit in a few packets anyway. */
const PACKED_BYTES_MIN = 4_096;
const RETRY_AFTER_MS_MIN = 1_000;
const RETRY_AFTER_MS_MAX = 5 * 60_000;
const SECONDS = /^\d+$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

export type Progress = (received: number, total: number | null) => void;

export interface Request {
  method: 'GET' | 'POST';
  path: string;
  apiKey?: string;
  body?: string;
  headers?: Record<string, string>;
  waitMs?: number;
  onProgress?: Progress;
  signal?: AbortSignal | undefined;
}

export interface ErrorBody {
  error: string;
  message: string;
  details: Record<string, unknown>;
}

export class Answered {
  constructor(
    readonly status: number,
    readonly body: Uint8Array<ArrayBuffer>,
    /** Between a second and five minutes. */
    readonly retryAfterMs: number | null,
    /** Until it began to arrive: how long all of it takes says nothing of the clock. */
    readonly roundTripMs: number,
    /** With which it was asked. */
    readonly apiKey: string | null,
  ) {}

  read<T>(reader: Reader<T>): T {
    const read = reader(this.json());
    if (read === null) throw new ServerAway('The server’s answer cannot be read.');
    return read;
  }

  get error(): ErrorBody {
    const said = this.json();
    if (!isRecord(said)) return { error: '', message: '', details: {} };
    return {
      error: isText(said['error']) ? said['error'] : '',
      message: isText(said['message']) ? said['message'] : '',
      details: isRecord(said['details']) ? said['details'] : {},
    };
  }

  /** Not of something on the way, like a network that wants somebody to sign in first. */
  get isRefusalOfOurs(): boolean {
    return this.status >= 400 && this.status < 500 && this.error.error !== '';
  }

  /**
   * Why the key was refused, if that is what was said, in our server's words: a proxy that wants
   * somebody to sign in says 401 too, and must not stop a device for good.
   */
  get keyTrouble(): KeyTrouble | null {
    if (this.status !== 401) return null;
    const { error, details } = this.error;
    if (error === 'invalid_device_token') return 'unknown_key';
    if (error !== 'device_inactive' || this.isRotationDemanded) return null;
    const status = details['status'];
    return status === 'revoked' || status === 'key_rotated' ? status : 'inactive';
  }

  /** The key is good for one thing only: to ask for the next one. */
  get isRotationDemanded(): boolean {
    const { error, details } = this.error;
    return (
      this.status === 401 &&
      error === 'device_inactive' &&
      details['status'] === 'rotation_demanded'
    );
  }

  private json(): unknown {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(this.body));
    } catch {
      return null;
    }
  }
}

/** One of these, or the reason why not as a fault. */
export function require(answered: Answered, ...statuses: number[]): Answered {
  if (statuses.includes(answered.status)) return answered;
  const { error, message } = answered.error;
  const trouble = answered.keyTrouble;
  if (trouble !== null) throw new KeyRefused(trouble);
  // With 401 our server says nothing else to a device, but that it is to change its key first.
  if (!answered.isRefusalOfOurs || [401, 429].includes(answered.status)) {
    throw new ServerAway(message || `The server answered with ${answered.status}.`);
  }
  throw new Refused(error, message);
}

type Given = Required<Pick<DeviceOptions, 'fetch' | 'monotonic' | 'now' | 'timer' | 'url'>>;

export class Link {
  constructor(
    private readonly given: Given,
    /** Told by what came, or did not; a browser's own opinion says little. */
    private readonly onReach: (reach: Reach) => void,
  ) {}

  /** Any answer at all, or ServerAway. */
  async ask(request: Request): Promise<Answered> {
    const { waitMs = ANSWER_MS, signal } = request;
    const stop = new AbortController();
    const giveUp = () => stop.abort();
    const cancel = this.given.timer(waitMs, giveUp);
    signal?.addEventListener('abort', giveUp);
    if (signal?.aborted) giveUp();
    try {
      return await Promise.race([this.fetched(request, stop.signal), aborted(stop.signal)]);
    } catch (fault) {
      const isTimeout = stop.signal.aborted && signal?.aborted !== true;
      if (!signal?.aborted) this.onReach(isTimeout && waitMs < ANSWER_MS ? 'degraded' : 'offline');
      throw new ServerAway(`The server does not answer: ${String(fault)}.`);
    } finally {
      cancel();
      signal?.removeEventListener('abort', giveUp);
    }
  }

  private async fetched(request: Request, signal: AbortSignal): Promise<Answered> {
    const headers: Record<string, string> = { ...request.headers };
    if (request.apiKey !== undefined) headers['Authorization'] = `Bearer ${request.apiKey}`;
    const init: RequestInit = { method: request.method, headers, signal, ...ALONE };
    if (request.body !== undefined) {
      headers['Content-Type'] = 'application/json';
      const body = await packed(request.body, headers);
      headers['Content-Digest'] = await digestOf(body);
      init.body = body;
    }
    const began = this.given.monotonic();
    const response = await this.given.fetch(this.given.url + request.path, init);
    const roundTripMs = this.given.monotonic() - began;
    const body = await readAll(response, request.onProgress);
    this.onReach(reachOf(response, roundTripMs));
    const retryAfterMs = retryAfterOf(response.headers, this.given.now());
    return new Answered(response.status, body, retryAfterMs, roundTripMs, request.apiKey ?? null);
  }
}

/** Its key is all that a device is known by, and nobody in between has an answer to give. */
const ALONE = {
  credentials: 'omit',
  cache: 'no-store',
  redirect: 'error',
  referrerPolicy: 'no-referrer',
} as const;

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => reject(new Error('it took too long'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give);
  });
}

function reachOf(response: Response, roundTripMs: number): Reach {
  if (response.status >= 500) return 'degraded';
  const isOurs =
    response.status === 304 ||
    (response.headers.get('Content-Type') ?? '').includes('application/json');
  if (!isOurs) return 'offline';
  return roundTripMs > SLOW_MS ? 'degraded' : 'online';
}

async function packed(
  body: string,
  headers: Record<string, string>,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new TextEncoder().encode(body);
  if (bytes.length < PACKED_BYTES_MIN || !('CompressionStream' in globalThis)) return bytes;
  headers['Content-Encoding'] = 'gzip';
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** What was changed on its way is noticed (RFC 9530). */
async function digestOf(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
  return `sha-256=:${btoa(String.fromCharCode(...hash))}:`;
}

async function readAll(
  response: Response,
  onProgress: Progress | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null || onProgress === undefined) {
    return new Uint8Array(await response.arrayBuffer());
  }
  const total = totalOf(response);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let received = 0;
  const reader = response.body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    received += piece.value.length;
    onProgress(received, total);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** The length is that of the transferred bytes; for a compressed body the final length is unknown. */
function totalOf(response: Response): number | null {
  const encoding = response.headers.get('Content-Encoding') ?? 'identity';
  const length = Number(response.headers.get('Content-Length') ?? NaN);
  return encoding === 'identity' && Number.isSafeInteger(length) ? length : null;
}

/**
 * So many seconds, or until a moment (RFC 9110), which is the server's: so what its own clock shows is
 * better to count from than ours. Whoever asks for days has made a mistake, and a queue would wait it out.
 */
function retryAfterOf(headers: Headers, nowMs: number): number | null {
  const said = headers.get('Retry-After')?.trim() ?? '';
  const ms = SECONDS.test(said) ? Number(said) * 1_000 : momentOf(said) - fromMs(headers, nowMs);
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, RETRY_AFTER_MS_MIN), RETRY_AFTER_MS_MAX);
}

function fromMs(headers: Headers, nowMs: number): number {
  const serverMs = momentOf(headers.get('Date') ?? '');
  return Number.isNaN(serverMs) ? nowMs : serverMs;
}

/** NaN where it is none: a browser finds a date in nearly everything. */
function momentOf(httpDate: string): number {
  return HTTP_DATE.test(httpDate) ? Date.parse(httpDate) : NaN;
}
