/** For tests: a server that answers as the real one does, and a network that fails on demand. */
import type { Manifest, SignedFields } from '@voelgoed/rules';
import { isSignedBy, momentText, parseMoment } from '@voelgoed/rules';
import { Device } from './client.ts';
import type { DeviceOptions } from './options.ts';
import {
  codeOf,
  deltaOf,
  EVENT,
  GATE,
  manifestOf,
  signedBody,
  ticketIdOf,
} from './testing_manifest.ts';

export const BEGAN_MS = Date.parse('2026-11-16T18:00:00Z');
export const DEVICE_ID = '0190a1b2-dddd-7000-8000-000000000001';
export const TICKETS = 400;

/**
 * `lost`: it does not arrive; `unheard`: its answer does not; `cut`: its answer arrives in part;
 * `slow`: its answer comes after nobody waits for it any more.
 */
export type Weather = 'fine' | 'lost' | 'unheard' | 'cut' | 'slow' | Response;

export interface Call {
  method: string;
  path: string;
  apiKey: string | null;
  deviceTime: string | null;
  body: Record<string, unknown>;
  isPacked: boolean;
}

export interface BroughtScan extends SignedFields {
  outcome: string;
  signature: string;
}

/** Time, which passes when somebody waits. */
export class World {
  ms = BEGAN_MS;
  /** Of the device's clock. */
  skewMs = 0;
  readonly slept: number[] = [];
  private readonly timers = new Set<() => void>();

  readonly now = () => this.ms + this.skewMs;
  readonly monotonic = () => this.ms - BEGAN_MS;
  readonly sleep = async (ms: number) => {
    this.slept.push(Math.round(ms));
    this.ms += ms;
  };
  readonly timer = (_ms: number, then: () => void) => {
    this.timers.add(then);
    return () => this.timers.delete(then);
  };

  fireTimers(): void {
    for (const then of [...this.timers]) then();
  }
}

export class FakeServer {
  readonly calls: Call[] = [];
  /** The scans by their ids, as often as they were stored. */
  readonly taken = new Map<string, number>();
  readonly scans = new Map<string, BroughtScan>();
  weather: (call: Call) => Weather = () => 'fine';
  organizationId = '0190a1b2-0000-7000-8000-000000000001';
  status: 'active' | 'inactive' | 'revoked' = 'active';
  keyVersion = 0;
  /** Somebody demands that the device changes its key. */
  isRotationDue = false;
  gateId: string | null = GATE;
  eventId: string | null = EVENT;
  manifests: Manifest[] = [];
  tokens = new Set<string>();
  /** In a batch with any of these nothing can be read. */
  readonly poison = new Set<string>();
  /** Which are found to be signed by somebody else, so often. */
  readonly spoilt = new Map<string, number>();
  /** Scans that the server names as conflicts. */
  readonly disputed: string[] = [];
  /** Scans that somebody has to review before they count, and why. */
  readonly unverified = new Map<string, string>();
  /** Batches that came under an id that another had. */
  reusedBatchIds = 0;
  /** Scans that came with a signature by another key than the batch's. */
  wrongSignatures = 0;
  private rotationId: string | null = null;
  private readonly batches = new Map<string, { body: string; answer: object }>();
  private readonly answers = new Map<string, Response>();
  private readonly entered = new Set<string>();

  constructor(readonly world: World) {}

  get apiKey(): string {
    return `vgd_${this.organizationId}_${this.keyVersion}`;
  }

  readonly fetch: typeof fetch = async (input, init = {}) => {
    const call = await callOf(String(input), init);
    this.calls.push(call);
    const weather = this.weather(call);
    if (weather === 'lost') throw new TypeError('Failed to fetch');
    if (weather instanceof Response) return weather;
    const answer = await this.answer(call);
    if (weather === 'unheard') throw new TypeError('Failed to fetch');
    if (weather === 'cut') return new Response((await answer.text()).slice(0, 20), answer);
    if (weather === 'fine') return answer;
    this.world.fireTimers();
    return await new Promise<never>(() => {});
  };

  callsTo(path: string): Call[] {
    return this.calls.filter((call) => call.path.startsWith(path));
  }

  private async answer(call: Call): Promise<Response> {
    if (call.path === '/api/scanning/pair') return this.pair(call);
    const isRotation = call.path === '/api/scanning/key-rotations';
    const refusal = this.refusal(call, isRotation);
    if (refusal !== null) return refusal;
    if (isRotation) return this.rotate(call);
    if (call.path === '/api/scanning/heartbeat') return json(200, { data: this.station(call) });
    if (call.path === '/api/scans') return await this.scan(call);
    if (call.path === '/api/scanning/sync') return await this.sync(call);
    if (call.path === '/api/scans/sync') return this.syncWhole(call);
    return await this.manifest(call);
  }

  private refusal(call: Call, isRotation: boolean): Response | null {
    if (!call.apiKey?.startsWith(`vgd_${this.organizationId}_`)) {
      return refused(401, 'invalid_device_token');
    }
    if (this.status !== 'active') return refused(401, 'device_inactive', { status: this.status });
    const isOld = call.apiKey !== this.apiKey;
    const isAskedAgain = isRotation && call.body['rotation_id'] === this.rotationId;
    if (isOld && !isAskedAgain) return refused(401, 'device_inactive', { status: 'key_rotated' });
    return this.isRotationDue && !isRotation
      ? refused(401, 'device_inactive', { status: 'rotation_demanded' })
      : null;
  }

  private pair(call: Call): Response {
    const token = String(call.body['pairing_token']);
    if (!this.tokens.delete(token)) return refused(404, 'pairing_token_not_found');
    this.keyVersion += 1;
    this.status = 'active';
    this.rotationId = null;
    return json(201, {
      device_id: call.body['device_id'] ?? DEVICE_ID,
      api_key: this.apiKey,
      organization_id: this.organizationId,
      organization_name: 'Voelgoed Demo',
      name: 'iPad north 1',
      gate_id: this.gateId,
      event_id: this.eventId,
    });
  }

  private rotate(call: Call): Response {
    if (call.apiKey === this.apiKey) {
      this.keyVersion += 1;
      this.rotationId = String(call.body['rotation_id']);
      this.isRotationDue = false;
    }
    const data = { device_id: DEVICE_ID, api_key: this.apiKey, key_version: this.keyVersion };
    return json(201, { data });
  }

  private station(call: Call): object {
    return {
      gate_id: this.gateId,
      gate_name: 'North gate',
      gate_status: 'open',
      event_id: this.eventId,
      event_name: 'Paris Music Festival',
      event_status: 'live',
      gate_inside: 3,
      event_inside: 7,
      manifest_version: this.manifests.at(-1)?.manifest_version ?? null,
      offset_seconds: this.offset(String(call.body['device_time'])),
    };
  }

  private offset(deviceTime: string): number {
    return this.world.ms / 1_000 - parseMoment(deviceTime) / 1_000_000;
  }

  private async scan(call: Call): Promise<Response> {
    const scanId = String(call.body['scan_id']);
    const known = this.answers.get(scanId);
    if (known !== undefined) return known.clone();
    const at = String(call.body['scanned_at']);
    if (Math.abs(this.offset(at)) > 300) {
      return refused(422, 'timestamp_out_of_range', { server_time: this.time });
    }
    const code = String(call.body['ticket_code']);
    const ticket = Array.from({ length: TICKETS }, (_, index) => index + 1).find(
      (each) => codeOf(each) === code,
    );
    const about = {
      scan_id: scanId,
      direction: call.body['direction'],
      ticket_code: code,
      scanned_at: this.time,
      message: '',
    };
    const answer = this.decided(about, ticket);
    this.keep(scanId);
    this.answers.set(scanId, answer.clone());
    return answer;
  }

  private decided(about: object, ticket: number | undefined): Response {
    if (ticket === undefined) {
      return json(404, { ...about, status: 'denied', reason: 'ticket_not_found' });
    }
    const known = { ...about, ticket_id: ticketIdOf(ticket) };
    if (this.entered.has(known.ticket_id)) {
      const last = { last_scanned_at: this.time, last_gate_name: 'South gate' };
      return json(200, { ...known, ...last, status: 'denied', reason: 'already_scanned' });
    }
    this.entered.add(known.ticket_id);
    return json(200, {
      ...known,
      status: 'admitted',
      entry_number: 1,
      seat_info: {
        seat_id: null,
        block_name: 'Stalls',
        row: 'A',
        seat_number: String(ticket),
        notes: [],
      },
      gate: { gate_id: GATE, gate_name: 'North gate' },
    });
  }

  get time(): string {
    return momentText(Math.round(this.world.ms) * 1_000);
  }

  private async sync(call: Call): Promise<Response> {
    const scans = call.body['scans'] as BroughtScan[];
    const isReadable = scans.every((scan) => !this.poison.has(scan.scan_id));
    if (scans.length > 50 || !isReadable) return refused(400, 'batch_malformed');
    const batchId = String(call.body['sync_batch_id']);
    const body = JSON.stringify(call.body);
    const known = this.batches.get(batchId);
    if (known !== undefined && known.body !== body) {
      this.reusedBatchIds += 1;
      return refused(409, 'batch_id_reused');
    }
    if (known !== undefined) return json(200, known.answer);
    const offset = Number(call.body['offset_seconds']);
    const answer = await this.takeIn(batchId, scans, offset, call.apiKey ?? '');
    this.batches.set(batchId, { body, answer });
    return json(200, answer);
  }

  private async takeIn(
    batchId: string,
    scans: BroughtScan[],
    offset: number,
    apiKey: string,
  ): Promise<object> {
    const processed: string[] = [];
    const rejected: object[] = [];
    for (const scan of scans) {
      const { scan_id } = scan;
      if (!(await this.isSigned(scan, apiKey))) {
        rejected.push({ scan_id, error: 'invalid_signature', message: 'Not signed.' });
      } else {
        if (!this.taken.has(scan_id)) {
          this.keep(scan_id);
          this.scans.set(scan_id, scan);
        }
        processed.push(scan_id);
      }
    }
    return {
      sync_batch_id: batchId,
      status: rejected.length > 0 ? 'partial_success' : 'completed',
      processed,
      skipped: [],
      rejected,
      conflicts: this.disputed.map((scan_id) => ({ scan_id })),
      unverified: processed.flatMap((scan_id) => {
        const reason = this.unverified.get(scan_id);
        return reason === undefined ? [] : [{ scan_id, reason }];
      }),
      offset_seconds: offset,
      measured_offset_seconds: null,
      server_time: this.time,
    };
  }

  private async isSigned(scan: BroughtScan, apiKey: string): Promise<boolean> {
    const left = this.spoilt.get(scan.scan_id) ?? 0;
    this.spoilt.set(scan.scan_id, left - 1);
    const isSigned = await isSignedBy(scan.signature, scan, apiKey);
    if (!isSigned) this.wrongSignatures += 1;
    return left <= 0 && isSigned;
  }

  private syncWhole(call: Call): Response {
    const scans = call.body['scans'] as { offline_id: string; ticket_code: string }[];
    const lost = scans.filter((scan) => this.poison.has(scan.offline_id));
    for (const scan of scans) {
      if (!this.taken.has(scan.offline_id) && !lost.includes(scan)) this.keep(scan.offline_id);
    }
    const errors: object[] = lost.map(({ offline_id, ticket_code }) => ({
      offline_id,
      ticket_code,
      reason: 'gate_not_found',
      is_kept: false,
    }));
    for (const { offline_id, ticket_code } of scans) {
      const unverified = this.unverified.get(offline_id);
      if (unverified === undefined) continue;
      errors.push({ offline_id, ticket_code, reason: 'unverified', is_kept: true, unverified });
    }
    return json(200, { errors, timestamp: this.time });
  }

  private keep(scanId: string): void {
    this.taken.set(scanId, (this.taken.get(scanId) ?? 0) + 1);
  }

  private async manifest(call: Call): Promise<Response> {
    const newest = this.manifests.at(-1);
    if (newest === undefined) return refused(404, 'event_not_found');
    const since = Number(new URL(call.path, 'http://x').searchParams.get('since'));
    if (since === newest.manifest_version) return new Response(null, { status: 304 });
    const before = this.manifests.find((each) => each.manifest_version === since);
    const document = before ? await deltaOf(before, newest) : newest;
    const offset = call.deviceTime === null ? null : this.offset(call.deviceTime);
    return new Response(await signedBody(document, this.apiKey, offset), JSON_HEADERS);
  }
}

const JSON_HEADERS = { headers: { 'Content-Type': 'application/json' } };

export function json(status: number, body: object): Response {
  return new Response(JSON.stringify(body), { status, ...JSON_HEADERS });
}

export function refused(status: number, error: string, details: object = {}): Response {
  return json(status, { error, message: `Refused: ${error}.`, details });
}

async function callOf(path: string, init: RequestInit): Promise<Call> {
  const headers = new Headers(init.headers);
  const isPacked = headers.get('Content-Encoding') === 'gzip';
  const sent = new Blob(init.body ? [init.body as Uint8Array<ArrayBuffer>] : []).stream();
  const text = await new Response(
    isPacked ? sent.pipeThrough(new DecompressionStream('gzip')) : sent,
  ).text();
  return {
    method: init.method ?? 'GET',
    path,
    apiKey: headers.get('Authorization')?.replace('Bearer ', '') ?? null,
    deviceTime: headers.get('X-Device-Time'),
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    isPacked,
  };
}

export interface Scene {
  world: World;
  server: FakeServer;
  databaseName: string;
  /** The same device as another tab has it, or after a start. */
  open: (options?: DeviceOptions) => Promise<Device>;
  closeAll: () => void;
}

export function scene(): Scene {
  const world = new World();
  const server = new FakeServer(world);
  const databaseName = `device-${crypto.randomUUID()}`;
  const opened: Device[] = [];
  const open = async (options: DeviceOptions = {}) => {
    const { now, monotonic, sleep, timer } = world;
    const given = { databaseName, fetch: server.fetch, now, monotonic, sleep, timer };
    const device = await Device.open({ ...given, random: () => 0.5, ...options });
    opened.push(device);
    return device;
  };
  const closeAll = () => opened.forEach((device) => device.close());
  return { world, server, databaseName, open, closeAll };
}

/** Paired and with a manifest of so many tickets. */
export async function ready(at: Scene, tickets = 20): Promise<Device> {
  at.server.tokens.add('7K2M-9QXD-E4TR');
  at.server.manifests = [await manifestOf(1, at.world.ms - 60_000, tickets)];
  const device = await at.open();
  await device.pair('7K2M-9QXD-E4TR');
  await device.hydrate();
  return device;
}

/** What is in the files that somebody takes to the office. */
export async function exported(device: Device): Promise<Record<string, unknown>[]> {
  const files = await device.exportFiles();
  return await Promise.all(files.map(async ({ content }) => JSON.parse(await content.text())));
}
