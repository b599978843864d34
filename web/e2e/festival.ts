import { setTimeout as sleep } from 'node:timers/promises';
import type { Demo } from './demo.ts';
import { freshFetch } from './fresh_fetch.ts';
import type { Ticket } from './venue.ts';

const LOOK_MS = 200;
const TYPE = 'Weekend seat';
const ZONE = 'Orchestra';

/** What its owner does about the demo's festival, which has numbered seats. */
export class Festival {
  private constructor(
    readonly url: string,
    private readonly token: string,
    private readonly demo: Demo,
  ) {}

  static async of(url: string, demo: Demo): Promise<Festival> {
    const body = { organization: demo.organization_slug, ...demo.users.owner };
    const answer = await freshFetch(`${url}/api/sessions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { data } = (await answer.json()) as { data: { token: string } };
    return new Festival(url, data.token, demo);
  }

  /** A ticket for each. */
  async importSeats(seats: string[]): Promise<Ticket[]> {
    const lines = seats.map((seat) => `${TYPE},${ZONE},${seat}`);
    const table = ['type,zone,seat', ...lines, ''].join('\n');
    const path = `/api/events/${this.demo.event_id}/ticket-imports`;
    let imported = await this.ask<{ id: string; status: string }>('POST', path, table);
    while (!['done', 'failed'].includes(imported.status)) {
      await sleep(LOOK_MS);
      imported = await this.ask('GET', `/api/ticket-imports/${imported.id}`);
    }
    const exported = `/api/events/${this.demo.event_id}/exports/tickets.json`;
    const listed = await this.read<{ id: string; seat: string }[]>('GET', exported);
    const bySeat = new Map(listed.map(({ id, seat }) => [seat, id]));
    return Promise.all(seats.map((seat) => this.ticket(bySeat.get(seat) ?? '')));
  }

  /** How many people. */
  async inside(): Promise<number> {
    const path = `/api/scanning/events/${this.demo.event_id}/occupancy`;
    return (await this.ask<{ current: number }>('GET', path)).current;
  }

  private async ticket(id: string): Promise<Ticket> {
    const { ticket, barcode } = await this.ask<{ ticket: { code: string }; barcode: string }>(
      'GET',
      `/api/tickets/${id}`,
    );
    return { id, code: ticket.code, barcode };
  }

  async void(ticket: Ticket): Promise<void> {
    await this.ask('POST', `/api/tickets/${ticket.id}/void`, { reason: 'for a picture' });
  }

  async setDuplicateWindow(seconds: number): Promise<void> {
    const path = `/api/events/${this.demo.event_id}/scan-policy`;
    const { version } = await this.ask<{ version: number }>('GET', path);
    await this.ask('PUT', path, { dedup_window_s: seconds, version });
  }

  async pairingToken(name: string): Promise<string> {
    const body = { gate_id: this.demo.gates[0]?.id, name };
    const pairing = await this.ask<{ pairing_token: string }>(
      'POST',
      '/api/scanning/pairings',
      body,
    );
    return pairing.pairing_token;
  }

  private async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await this.read<{ data: T }>(method, path, body)).data;
  }

  private async read<T>(method: string, path: string, body?: unknown): Promise<T> {
    const isTable = typeof body === 'string';
    const answer = await freshFetch(this.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${this.token}`,
        ...(body !== undefined && { 'Content-Type': isTable ? 'text/csv' : 'application/json' }),
      },
      ...(body !== undefined && { body: isTable ? body : JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }
}
