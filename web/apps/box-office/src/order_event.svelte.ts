import { answer, type Api, type Event, type Venue } from '@voelgoed/api';
import type { Right, TicketType } from './types.ts';

/** In an order of more seats they have their names, such as `A-1`, which is one question less each. */
const SEATS_ASKED_MAX = 20;

interface Seat {
  row: string;
  number: number;
}

/**
 * What the tickets of an order are for. Each part comes when it is known, and what cannot be read
 * is left out: a ticket is good without it.
 */
export class OrderEvent {
  event = $state.raw<Event | undefined>();
  venue = $state.raw<Venue | undefined>();
  types = $state.raw(new Map<string, TicketType>());
  /** Names by id. */
  zones = $state.raw(new Map<string, string>());
  seats = $state.raw(new Map<string, Seat>());

  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(eventId: string, rights: readonly Right[]): Promise<void> {
    await Promise.allSettled([
      this.#readEvent(eventId),
      this.#readTypes(eventId),
      this.#readZones(eventId),
      this.#readSeats(
        eventId,
        rights.flatMap(({ seat_id: id }) => id ?? []),
      ),
    ]);
  }

  get timezone(): string {
    return this.venue?.timezone ?? 'UTC';
  }

  /** The days to name: none where the event has no other. */
  daysOf({ days }: Right): string[] {
    const all = this.event?.days ?? [];
    return all.length === 1 && days.length === 1 && all[0]!.date === days[0] ? [] : days;
  }

  async #readEvent(event_id: string): Promise<void> {
    const path = { event_id };
    this.event = (await answer(this.#api.GET('/api/events/{event_id}', { params: { path } }))).data;
    const at = { params: { path: { venue_id: this.event.venue_id } } };
    this.venue = (await answer(this.#api.GET('/api/venues/{venue_id}', at))).data;
  }

  async #readTypes(event_id: string): Promise<void> {
    const params = { path: { event_id } };
    const call = this.#api.GET('/api/events/{event_id}/ticket-types', { params });
    this.types = new Map((await answer(call)).data.map((type) => [type.id, type]));
  }

  async #readZones(event_id: string): Promise<void> {
    const params = { path: { event_id } };
    const call = this.#api.GET('/api/events/{event_id}/layout', { params });
    const zones = (await answer(call)).data.zones as { zone: { zone_id: string; name: string } }[];
    this.zones = new Map(zones.map(({ zone }) => [zone.zone_id, zone.name]));
  }

  async #readSeats(event_id: string, ids: readonly string[]): Promise<void> {
    if (ids.length > SEATS_ASKED_MAX) return;
    const found = await Promise.all(
      ids.map(async (seat_id) => {
        const params = { path: { event_id, seat_id } };
        const call = this.#api.GET('/api/events/{event_id}/seats/{seat_id}', { params });
        return (await answer(call)).data;
      }),
    );
    this.seats = new Map(found.map((seat) => [seat.id, seat]));
  }
}
