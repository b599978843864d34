import { demo, type Demo, type LogIn } from './demo.ts';
import { freshFetch } from './fresh_fetch.ts';

const HOUR_MS = 3_600_000;
const PASSWORD = 'a long walk on the beach';

interface Options {
  name: string;
  config?: unknown;
  /** On two days in a row, each with a ticket of its own for the floor. */
  twoDays?: boolean;
  /** Instead of five minutes. */
  holdMinutes?: number;
  /** Or another organisation, or one of another server than all tests share. */
  demo?: Pick<Demo, 'organization_slug'> & { users: { owner: LogIn } };
}

interface SeatDetails {
  status: string;
}

/** A house with numbered seats and a floor, on sale, as somebody who runs the organisation has it. */
export class SeatedHouse {
  /** One log-in for each organisation will do: there are only so many in a quarter of an hour. */
  static readonly #tokens = new Map<string, string>();
  static #people = 0;
  eventId = '';
  venueId = '';

  private constructor(
    readonly url: string,
    private readonly demo: NonNullable<Options['demo']>,
  ) {}

  static async open(url: string, options: Options): Promise<SeatedHouse> {
    const house = new SeatedHouse(url, options.demo ?? demo());
    await house.#logIn();
    await house.#openEvent(options);
    return house;
  }

  /** Somebody nobody has seen before, who can log in; with a tier, a member. */
  async person(role: 'customer' | 'box_office' = 'customer', tier?: string): Promise<LogIn> {
    SeatedHouse.#people += 1;
    const email = `seats-${SeatedHouse.#people}-${crypto.randomUUID()}@example.com`;
    const name = `Person ${SeatedHouse.#people}`;
    const body = { email, name, role, password: PASSWORD };
    const { id } = await this.#ask<{ id: string }>('POST', '/api/users', body);
    const valid_from = new Date(Date.now() - HOUR_MS).toISOString();
    if (tier) await this.#ask('POST', `/api/users/${id}/memberships`, { tier, valid_from });
    return { email, password: PASSWORD };
  }

  get page(): string {
    return `/box-office/?org=${this.demo.organization_slug}#/events/${this.eventId}`;
  }

  async organizationId(): Promise<string> {
    const session = await this.#ask<{ organization: { id: string } }>('GET', '/api/session');
    return session.organization.id;
  }

  /** From now on customers of the organisation pay there. */
  async payAt(page_url: string, secret: string): Promise<void> {
    await this.#ask('PUT', '/api/payment-accounts/paylink', { page_url, secret });
  }

  async seatStatus(seatId: string): Promise<string> {
    const path = `/api/events/${this.eventId}/seats/${seatId}`;
    return (await this.#ask<SeatDetails>('GET', path)).status;
  }

  async layouts(): Promise<{ name: string; version: number; status: string }[]> {
    return this.#ask('GET', `/api/venues/${this.venueId}/layouts`);
  }

  async block(seatIds: string[]): Promise<void> {
    const path = `/api/events/${this.eventId}/seat-blocks`;
    await this.#ask('POST', path, { seat_ids: seatIds, reason: 'a test' });
  }

  async #logIn(): Promise<void> {
    if (SeatedHouse.#tokens.has(this.#door)) return;
    const { organization_slug: organization, users } = this.demo;
    const body = { organization, ...users.owner };
    const session = await this.#ask<{ token: string }>('POST', '/api/sessions', body);
    SeatedHouse.#tokens.set(this.#door, session.token);
  }

  get #door(): string {
    return `${this.url} ${this.demo.organization_slug}`;
  }

  async #openEvent({ name, config = aHall(), holdMinutes, twoDays }: Options): Promise<void> {
    const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const venue = await this.#ask<{ id: string }>('POST', '/api/venues', {
      name,
      timezone: 'Africa/Johannesburg',
    });
    const event = await this.#ask<{ id: string; days: { date: string }[] }>('POST', '/api/events', {
      venue_id: venue.id,
      name,
      starts_at: at(24),
      ends_at: at(twoDays ? 50 : 28),
      capacity: 60_000,
    });
    this.eventId = event.id;
    this.venueId = venue.id;
    const path = `/api/venues/${venue.id}/layouts`;
    const layout = await this.#ask<{ id: string }>('POST', path, { name, config });
    const overrides = holdMinutes
      ? { seating_overrides: { default_hold_ttl_minutes: holdMinutes } }
      : {};
    await this.#ask('PUT', `/api/events/${event.id}/layout`, { layout_id: layout.id, overrides });
    const days = event.days.map(({ date }) => date);
    const standing = twoDays
      ? (['First', 'Second'] as const).map(
          (day, at) => [`${day} day`, 'ga', 0, [days[at]!]] as const,
        )
      : [['Standing', 'ga', 0, null] as const];
    for (const [type, kind, amount_minor, valid_days] of [
      ['Full price', 'seated', 320_00, null] as const,
      ['Concession', 'seated', 180_00, null] as const,
      ...standing,
    ]) {
      const prices = [{ amount_minor }];
      await this.#ask('POST', `/api/events/${event.id}/ticket-types`, {
        name: type,
        kind,
        currency: 'ZAR',
        prices,
        valid_days,
      });
    }
    await this.#ask('POST', `/api/events/${event.id}/transitions`, { to: 'published' });
  }

  async #ask<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { 'Content-Type': 'application/json' };
    const token = SeatedHouse.#tokens.get(this.#door);
    if (token) headers.Authorization = `Bearer ${token}`;
    const answer = await freshFetch(this.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (answer.status === 401 && token) {
      // Another test has logged the owner out everywhere.
      SeatedHouse.#tokens.delete(this.#door);
      await this.#logIn();
      return this.#ask(method, path, body);
    }
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: T }).data;
  }
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
