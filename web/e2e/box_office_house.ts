import type { Organization } from './organization.ts';

const HOUR_MS = 3_600_000;

interface Options {
  name: string;
  config?: unknown;
  /** On two days in a row, each with a ticket of its own for the floor. */
  twoDays?: boolean;
  /** Instead of five minutes. */
  holdMinutes?: number;
  /** People come in already. */
  isLive?: boolean;
}

interface SeatDetails {
  status: string;
}

/** An event with numbered seats and a floor, on sale, as somebody who runs the organisation has it. */
export class SeatedHouse {
  private constructor(
    readonly organization: Organization,
    readonly venueId: string,
    readonly eventId: string,
  ) {}

  static async open(organization: Organization, options: Options): Promise<SeatedHouse> {
    const { name, config = aHall(), holdMinutes, twoDays, isLive } = options;
    const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const place = { name, timezone: 'Africa/Johannesburg' };
    const venue = await organization.ask<{ id: string }>('POST', '/api/venues', place);
    const event = await organization.ask<MadeEvent>('POST', '/api/events', {
      venue_id: venue.id,
      name,
      starts_at: at(isLive ? -1 : 24),
      ends_at: at(twoDays ? 50 : isLive ? 12 : 28),
      capacity: 60_000,
    });
    const path = `/api/events/${event.id}`;
    const layouts = `/api/venues/${venue.id}/layouts`;
    const layout = await organization.ask<{ id: string }>('POST', layouts, { name, config });
    const overrides = holdMinutes
      ? { seating_overrides: { default_hold_ttl_minutes: holdMinutes } }
      : {};
    await organization.ask('PUT', `${path}/layout`, { layout_id: layout.id, overrides });
    for (const type of ticketTypes(twoDays ? event.days.map(({ date }) => date) : null)) {
      await organization.ask('POST', `${path}/ticket-types`, { currency: 'ZAR', ...type });
    }
    for (const to of isLive ? ['published', 'live'] : ['published']) {
      await organization.ask('POST', `${path}/transitions`, { to });
    }
    return new SeatedHouse(organization, venue.id, event.id);
  }

  get page(): string {
    return `/box-office/?org=${this.organization.slug}#/events/${this.eventId}`;
  }

  /** From now on customers of the organisation pay there. */
  async payAt(page_url: string, secret: string): Promise<void> {
    await this.organization.ask('PUT', '/api/payment-accounts/paylink', { page_url, secret });
  }

  async seatStatus(seatId: string): Promise<string> {
    const path = `/api/events/${this.eventId}/seats/${seatId}`;
    return (await this.organization.ask<SeatDetails>('GET', path)).status;
  }

  async layouts(): Promise<{ name: string; version: number; status: string }[]> {
    return this.organization.ask('GET', `/api/venues/${this.venueId}/layouts`);
  }

  async block(seatIds: string[]): Promise<void> {
    const path = `/api/events/${this.eventId}/seat-blocks`;
    await this.organization.ask('POST', path, { seat_ids: seatIds, reason: 'a test' });
  }
}

interface MadeEvent {
  id: string;
  days: { date: string }[];
}

/** Two prices for the seats, and one type for the floor or one for each of the two days. */
function ticketTypes(days: string[] | null) {
  const seated = { kind: 'seated', valid_days: null };
  const standing = { kind: 'ga', prices: [{ amount_minor: 0 }] };
  return [
    { name: 'Full price', ...seated, prices: [{ amount_minor: 320_00 }] },
    { name: 'Concession', ...seated, prices: [{ amount_minor: 180_00 }] },
    ...(days
      ? ['First day', 'Second day'].map((name, at) => ({
          name,
          ...standing,
          valid_days: [days[at]!],
        }))
      : [{ name: 'Standing', ...standing, valid_days: null }]),
  ];
}

/** Rows A to D of ten, with a wheelchair place and its companion in D, and a floor for twenty. */
export function aHall(access: object = {}) {
  const zoneId = crypto.randomUUID();
  const seats = ['A', 'B', 'C', 'D'].flatMap((row, y) =>
    Array.from({ length: 10 }, (_, x) => ({
      seat_id: `${row}-${x + 1}`,
      row,
      number: x + 1,
      coordinates: { x, y: y + 5 },
      ...(row === 'D' && x === 0 && { category: 'wheelchair', companion_seat_id: 'D-2' }),
      ...(row === 'D' && x === 1 && { category: 'companion', companion_seat_id: 'D-1' }),
    })),
  );
  const floor = {
    zone_id: crypto.randomUUID(),
    zone_type: 'ga_standing',
    name: 'Floor',
    capacity: 20,
    metadata: { x: 0, y: 0, width: 9, height: 3 },
  };
  const stalls = {
    zone_id: zoneId,
    zone_type: 'reserved_seating',
    name: 'Stalls',
    capacity: 40,
    seats,
    ...access,
  };
  return { zones: [floor, stalls], focal_point: { x: 4.5, y: -2 } };
}
