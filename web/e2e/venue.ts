import { setTimeout as sleep } from 'node:timers/promises';
import type { Organization } from './organization.ts';

const LOOK_MS = 20;
const IMPORT_MS_MAX = 120_000;
const HOUR_MS = 3_600_000;
const FLOOR = 'Floor';
const TYPE = 'Standard';
const RETURNING_TYPE = 'Returning';

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

interface Import {
  id: string;
  status: string;
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

/** An event at which tickets are scanned, and what its owner does about it over the API. */
export class Venue {
  private constructor(
    readonly organization: Organization,
    readonly eventId: string,
  ) {}

  /** One that is there. */
  static at(organization: Organization, eventId: string): Venue {
    return new Venue(organization, eventId);
  }

  /** A new one that is live, with a floor for so many. */
  static async open(organization: Organization, name = 'Jazz in the Park'): Promise<Venue> {
    const now = Date.now();
    const at = (hours: number) => new Date(now + hours * HOUR_MS).toISOString();
    const capacity = 50_000;
    const place = { name, timezone: 'Africa/Johannesburg' };
    const venue = await organization.ask<{ id: string }>('POST', '/api/venues', place);
    const event = await organization.ask<{ id: string }>('POST', '/api/events', {
      venue_id: venue.id,
      name,
      starts_at: at(-1),
      ends_at: at(12),
      capacity,
      days: [{ date: dateAt(at(-1)), starts_at: at(-1), ends_at: at(12) }],
    });
    const path = `/api/events/${event.id}`;
    const zone = { zone_id: crypto.randomUUID(), zone_type: 'ga_standing', name: FLOOR, capacity };
    const config = { zones: [zone] };
    const layouts = `/api/venues/${venue.id}/layouts`;
    const layout = await organization.ask<{ id: string }>('POST', layouts, { name, config });
    await organization.ask('PUT', `${path}/layout`, { layout_id: layout.id });
    await organization.ask('POST', `${path}/ticket-types`, {
      name: TYPE,
      kind: 'ga',
      currency: 'ZAR',
      prices: [{ amount_minor: 0 }],
      entitlement: 'single_entry',
    });
    for (const to of ['published', 'live']) {
      await organization.ask('POST', `${path}/transitions`, { to });
    }
    return new Venue(organization, event.id);
  }

  async openGate(code: string, name: string): Promise<Gate> {
    const path = `/api/events/${this.eventId}/gates`;
    return this.organization.ask<Gate>('POST', path, { code, name, status: 'open' });
  }

  /** So many tickets more, of which the first few with what is in their QR codes. */
  async importTickets(count: number, shown = count): Promise<Ticket[]> {
    const lines = Array.from({ length: count }, () => `${TYPE},${FLOOR},${crypto.randomUUID()}`);
    const listed = await this.#import(['type,zone,reference', ...lines]);
    return Promise.all(listed.slice(listed.length - shown).map(({ id }) => this.#ticket(id)));
  }

  /** A ticket with which somebody may leave and come back. */
  async importReturning(): Promise<Ticket> {
    await this.organization.ask('POST', `/api/events/${this.eventId}/ticket-types`, {
      name: RETURNING_TYPE,
      kind: 'ga',
      currency: 'ZAR',
      prices: [{ amount_minor: 0 }],
      entitlement: 'unlimited_multi_day',
    });
    const line = `${RETURNING_TYPE},${FLOOR},${crypto.randomUUID()}`;
    const listed = await this.#import(['type,zone,reference', line]);
    return this.#ticket(listed.at(-1)?.id ?? '');
  }

  /** A ticket for each of these seats. */
  async importSeats(type: string, zone: string, seats: string[]): Promise<Ticket[]> {
    const lines = seats.map((seat) => `${type},${zone},${seat}`);
    const listed = await this.#import(['type,zone,seat', ...lines]);
    const bySeat = new Map(listed.map(({ id, seat }) => [seat, id]));
    return Promise.all(seats.map((seat) => this.#ticket(bySeat.get(seat) ?? '')));
  }

  /** Gives all tickets of the event. */
  async #import(lines: string[]): Promise<{ id: string; seat: string }[]> {
    const path = `/api/events/${this.eventId}`;
    const table = [...lines, ''].join('\n');
    const imports = `${path}/ticket-imports`;
    let imported = await this.organization.ask<Import>('POST', imports, table);
    const until = Date.now() + IMPORT_MS_MAX;
    while (!['done', 'failed'].includes(imported.status) && Date.now() < until) {
      await sleep(LOOK_MS);
      imported = await this.organization.ask('GET', `/api/ticket-imports/${imported.id}`);
    }
    if (imported.status !== 'done') throw new Error(JSON.stringify(imported));
    const answer = await this.organization.request('GET', `${path}/exports/tickets.json`);
    return (await answer.json()) as { id: string; seat: string }[];
  }

  async #ticket(id: string): Promise<Ticket> {
    const path = `/api/tickets/${id}`;
    type Found = { ticket: { code: string }; barcode: string };
    const { ticket, barcode } = await this.organization.ask<Found>('GET', path);
    return { id, code: ticket.code, barcode };
  }

  async void(ticket: Ticket): Promise<void> {
    await this.organization.ask('POST', `/api/tickets/${ticket.id}/void`, { reason: 'a test' });
  }

  /** A ticket that is scanned again within it is a duplicate. */
  async setDuplicateWindow(seconds: number): Promise<void> {
    const path = `/api/events/${this.eventId}/scan-policy`;
    const { version } = await this.organization.ask<{ version: number }>('GET', path);
    await this.organization.ask('PUT', path, { dedup_window_s: seconds, version });
  }

  /** `replaces`: the id of the device that is paired again. */
  async pairingToken(gate: Pick<Gate, 'id'>, name: string, replaces?: string): Promise<string> {
    const path = '/api/scanning/pairings';
    const pairing = await this.organization.ask<{ pairing_token: string }>('POST', path, {
      gate_id: gate.id,
      name,
      ...(replaces && { replaces_device_id: replaces }),
    });
    return pairing.pairing_token;
  }

  /** Of a device that shows its own code. */
  async approve(gate: Gate, name: string, challenge: string): Promise<void> {
    const body = { gate_id: gate.id, name, challenge };
    await this.organization.ask('POST', '/api/scanning/pairings', body);
  }

  async devices(): Promise<{ id: string; name: string }[]> {
    return this.organization.list(`/api/scanning/devices`);
  }

  async demandRotation(deviceId: string): Promise<void> {
    const path = `/api/scanning/devices/${deviceId}/key-rotations`;
    await this.organization.request('POST', path);
  }

  async revoke(deviceId: string): Promise<void> {
    await this.organization.request('DELETE', `/api/scanning/devices/${deviceId}`);
  }

  async scans(): Promise<ListedScan[]> {
    return this.organization.list(`/api/scanning/events/${this.eventId}/scans`);
  }

  /** The file that a device wrote. */
  async importQueue(file: unknown): Promise<Imported> {
    return this.organization.ask<Imported>('POST', '/api/scanning/recoveries', file);
  }

  async acceptRecovery(batchId: string): Promise<void> {
    const body = { to: 'accepted', note: 'a test' };
    await this.organization.ask('POST', `/api/scanning/recoveries/${batchId}/transitions`, body);
  }
}
