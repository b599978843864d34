import { barcodeHash, signScan } from '@voelgoed/rules';
import { freshFetch } from './fresh_fetch.ts';
import type { Organization } from './organization.ts';
import type { Ticket } from './venue.ts';

/** Long before it was paired, however long a busy machine has been about that. */
const EXPORTED_AGE_S = 600;

interface Paired {
  device_id: string;
  api_key: string;
  gate_id: string;
}

interface List {
  manifest_version: number;
  tickets: { ticket_id: string }[];
}

/** A device without an app: what it sends, and nothing more. */
export class BareDevice {
  private constructor(
    private readonly server: Pick<Organization, 'url'>,
    private readonly paired: Paired,
  ) {}

  static async pair(
    server: Pick<Organization, 'url'>,
    token: string,
    deviceId?: string,
  ): Promise<BareDevice> {
    const answer = await BareDevice.use(server, token, deviceId);
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return new BareDevice(server, (await answer.json()) as Paired);
  }

  /** What the server says to who uses a token, and says to be that device. */
  static async use(
    server: Pick<Organization, 'url'>,
    token: string,
    deviceId?: string,
  ): Promise<Response> {
    const body = JSON.stringify({ pairing_token: token, device_id: deviceId ?? null });
    const headers = { 'Content-Type': 'application/json' };
    const path = `${server.url}/api/scanning/pair`;
    return await freshFetch(path, { method: 'POST', headers, body });
  }

  get id(): string {
    return this.paired.device_id;
  }

  /** The status of the answer, and what it says. */
  async scan(ticket: Ticket, direction = 'entry'): Promise<{ status: number; said: string }> {
    const answer = await this.post('/api/scans', {
      ticket_code: ticket.barcode,
      device_id: this.paired.device_id,
      scanned_at: new Date().toISOString(),
      scan_id: crypto.randomUUID(),
      direction,
    });
    const { status = '' } = (await answer.json()) as { status?: string };
    return { status: answer.status, said: status };
  }

  /** The ticket list of an event; its version. */
  async fetchList(eventId: string): Promise<number> {
    return (await this.list(eventId)).manifest_version;
  }

  /** Which tickets are in it. */
  async listed(eventId: string): Promise<Set<string>> {
    return new Set((await this.list(eventId)).tickets.map(({ ticket_id }) => ticket_id));
  }

  private async list(eventId: string): Promise<List> {
    const path = `${this.server.url}/api/scanning/events/${eventId}/manifest`;
    const headers = { Authorization: `Bearer ${this.paired.api_key}` };
    const answer = await freshFetch(path, { headers });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as List;
  }

  async heartbeat(facts: Record<string, unknown> = {}): Promise<void> {
    const body = { device_time: new Date().toISOString(), ...facts };
    await this.post('/api/scanning/heartbeat', body);
  }

  /** What it let in while it was alone, a moment ago. */
  async bring(ticket: Ticket, secondsAgo: number): Promise<void> {
    const signed = await this.signed(ticket, secondsAgo);
    const { device_id } = this.paired;
    const sync_batch_id = crypto.randomUUID();
    const body = { device_id, sync_batch_id, offset_seconds: 0, scans: [signed] };
    const answer = await this.post('/api/scanning/sync', body);
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  }

  /** As a file, for somebody to import. */
  async export(tickets: Ticket[]): Promise<unknown> {
    const signed = await Promise.all(tickets.map((ticket) => this.signed(ticket, EXPORTED_AGE_S)));
    const scans = signed.map((scan) => ({ ...scan, offset_seconds: 0 }));
    const exported_at = new Date().toISOString();
    return { device_id: this.paired.device_id, exported_at, scans };
  }

  private async signed(ticket: Ticket, secondsAgo: number) {
    const at = new Date(Date.now() - secondsAgo * 1_000).toISOString();
    const fields = {
      scan_id: crypto.randomUUID(),
      ticket_id: ticket.id,
      barcode_hash: await barcodeHash(ticket.barcode),
      scanned_at: at,
      gate_id: this.paired.gate_id,
    };
    const signature = await signScan(fields, this.paired.api_key);
    return { ...fields, signature, direction: 'entry', outcome: 'valid' };
  }

  private post(path: string, body: unknown): Promise<Response> {
    return freshFetch(this.server.url + path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.paired.api_key}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(body),
    });
  }
}
