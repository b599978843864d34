import { setTimeout as sleep } from 'node:timers/promises';
import { freshFetch } from './fresh_fetch.ts';
import type { OwnServer } from './own_server.ts';

const LOOK_MS = 200;
const IMPORT_MS_MAX = 120_000;
const PAGE_MAX = 200;
const HOUR_MS = 3_600_000;
const FLOOR = 'Floor';
const TYPE = 'Standard';

export interface Gate {
  id: string;
  code: string;
  name: string;
}

export interface Ticket {
  id: string;
  code: string;
  barcode: string;
}

export interface ListedScan {
  id: string;
  ticket_id: string | null;
  status: 'admitted' | 'denied';
  source: string;
  /** In the server's time. */
  scanned_at_canonical: string;
}

/** What was brought as a file. */
export interface Imported {
  batch_id: string;
  kept: number;
  known: number;
  rejected: number;
  wrong_signatures: number;
}

interface Page<T> {
  data: T[];
  next: string | null;
}

/**
 * The day at the venue, where it is the evening before until six. The event has this one only, so that
 * no day breaks, and no count begins anew, in the middle of a test.
 */
function dateAt(moment: string): string {
  const [aheadHours, dayBreakHour] = [2, 6];
  const shifted = Date.parse(moment) + (aheadHours - dayBreakHour) * HOUR_MS;
  return new Date(shifted).toISOString().slice(0, 10);
}

/** What somebody who runs the organisation does, over the API. */
export class Venue {
  /** One log-in will do: there are only so many in a quarter of an hour. */
  static readonly #sessions = new WeakMap<OwnServer, string>();
  eventId = '';
  #token = '';

  private constructor(readonly server: OwnServer) {}

  /** An event that is live, with a floor for so many. */
  static async open(server: OwnServer, name = 'Jazz in the Park'): Promise<Venue> {
    const venue = new Venue(server);
    await venue.#logIn();
    await venue.#openEvent(name);
    return venue;
  }

  async #logIn(): Promise<void> {
    this.#token = Venue.#sessions.get(this.server) ?? '';
    if (this.#token) return;
    const { organization_slug: organization, users } = this.server.demo;
    const session = await this.#ask<{ token: string }>('POST', '/api/sessions', {
      organization,
      ...users.owner,
    });
    this.#token = session.token;
    Venue.#sessions.set(this.server, session.token);
  }

  async #openEvent(name: string): Promise<void> {
    const now = Date.now();
    const at = (hours: number) => new Date(now + hours * HOUR_MS).toISOString();
    const capacity = 50_000;
    const venue = await this.#ask<{ id: string }>('POST', '/api/venues', {
      name,
      timezone: 'Africa/Johannesburg',
    });
    const event = await this.#ask<{ id: string }>('POST', '/api/events', {
      venue_id: venue.id,
      name,
      starts_at: at(-1),
      ends_at: at(12),
      capacity,
      days: [{ date: dateAt(at(-1)), starts_at: at(-1), ends_at: at(12) }],
    });
    this.eventId = event.id;
    const zone = { zone_id: crypto.randomUUID(), zone_type: 'ga_standing', name: FLOOR, capacity };
    const layout = await this.#ask<{ id: string }>('POST', `/api/venues/${venue.id}/layouts`, {
      name,
      config: { zones: [zone] },
    });
    await this.#ask('PUT', `/api/events/${event.id}/layout`, { layout_id: layout.id });
    await this.#ask('POST', `/api/events/${event.id}/ticket-types`, {
      name: TYPE,
      kind: 'ga',
      currency: 'ZAR',
      prices: [{ amount_minor: 0 }],
      entitlement: 'single_entry',
    });
    for (const to of ['published', 'live']) {
      await this.#ask('POST', `/api/events/${event.id}/transitions`, { to });
    }
  }

  async openGate(code: string, name: string): Promise<Gate> {
    const path = `/api/events/${this.eventId}/gates`;
    return this.#ask<Gate>('POST', path, { code, name, status: 'open' });
  }

  /** So many tickets more, of which the first few with what is in their QR codes. */
  async importTickets(count: number, shown = count): Promise<Ticket[]> {
    const lines = Array.from({ length: count }, () => `${TYPE},${FLOOR},${crypto.randomUUID()}`);
    const path = `/api/events/${this.eventId}/ticket-imports`;
    const table = ['type,zone,reference', ...lines, ''].join('\n');
    let imported = await this.#ask<{ id: string; status: string }>('POST', path, table);
    const until = Date.now() + IMPORT_MS_MAX;
    while (!['done', 'failed'].includes(imported.status) && Date.now() < until) {
      await sleep(LOOK_MS);
      imported = await this.#ask('GET', `/api/ticket-imports/${imported.id}`);
    }
    if (imported.status !== 'done') throw new Error(JSON.stringify(imported));
    const answer = await this.#request('GET', `/api/events/${this.eventId}/exports/tickets.json`);
    const listed = (await answer.json()) as { id: string }[];
    return Promise.all(listed.slice(listed.length - shown).map(({ id }) => this.#ticket(id)));
  }

  async #ticket(id: string): Promise<Ticket> {
    const { ticket, barcode } = await this.#ask<{ ticket: { code: string }; barcode: string }>(
      'GET',
      `/api/tickets/${id}`,
    );
    return { id, code: ticket.code, barcode };
  }

  async void(ticket: Ticket): Promise<void> {
    await this.#ask('POST', `/api/tickets/${ticket.id}/void`, { reason: 'a test' });
  }

  async pairingToken(gate: Gate, name: string): Promise<string> {
    const body = { gate_id: gate.id, name };
    const pairing = await this.#ask<{ pairing_token: string }>(
      'POST',
      '/api/scanning/pairings',
      body,
    );
    return pairing.pairing_token;
  }

  /** Of a device that shows its own code. */
  async approve(gate: Gate, name: string, challenge: string): Promise<void> {
    await this.#ask('POST', '/api/scanning/pairings', { gate_id: gate.id, name, challenge });
  }

  async devices(): Promise<{ id: string; name: string }[]> {
    return this.#all(`/api/scanning/devices`);
  }

  async revoke(deviceId: string): Promise<void> {
    await this.#request('DELETE', `/api/scanning/devices/${deviceId}`);
  }

  async scans(): Promise<ListedScan[]> {
    return this.#all(`/api/scanning/events/${this.eventId}/scans`);
  }

  /** The file that a device wrote. */
  async importQueue(file: unknown): Promise<Imported> {
    return this.#ask<Imported>('POST', '/api/scanning/recoveries', file);
  }

  async acceptRecovery(batchId: string): Promise<void> {
    const body = { to: 'accepted', note: 'a test' };
    await this.#ask('POST', `/api/scanning/recoveries/${batchId}/transitions`, body);
  }

  async #all<T>(path: string): Promise<T[]> {
    const found: T[] = [];
    let after = '';
    for (;;) {
      const answer = await this.#request('GET', `${path}?limit=${PAGE_MAX}${after}`);
      const page = (await answer.json()) as Page<T>;
      found.push(...page.data);
      if (!page.next) return found;
      after = `&after=${page.next}`;
    }
  }

  async #ask<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.#request(method, path, body);
    return ((await answer.json()) as { data: T }).data;
  }

  async #request(method: string, path: string, body?: unknown): Promise<Response> {
    const isTable = typeof body === 'string';
    const headers: Record<string, string> = {};
    if (this.#token) headers.Authorization = `Bearer ${this.#token}`;
    if (body !== undefined) headers['Content-Type'] = isTable ? 'text/csv' : 'application/json';
    const answer = await freshFetch(this.server.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: isTable ? body : JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}
