import { answer, ApiError, type Api, type Event, type LiveClient, type Venue } from '@voelgoed/api';
import { LiveSeats, readPlan, type SeatPlan, type SeatStates } from '@voelgoed/seat-map';
import type { Offer, TicketType } from './types.ts';

const DAYS_ASKED_MS = 2_000;

/** How many places of a zone are free: on the fullest day, and on each, where that is known. */
interface FreePlaces {
  least: number;
  days: ReadonlyMap<string, number>;
}

/** An event's house: its plan, prices, and what is free, kept up to date while it is followed. */
export class House {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<ApiError | undefined>();
  event = $state.raw<Event | undefined>();
  venue = $state.raw<Venue | undefined>();
  plan = $state.raw<SeatPlan | undefined>();
  offers = $state.raw(new Map<string, Offer[]>());
  types = $state.raw(new Map<string, TicketType>());
  /** By zone. */
  free = $state.raw(new Map<string, FreePlaces>());
  positions = $derived(new Map(this.plan?.seats.ids.map((id, position) => [id, position])));

  readonly #api: Api;
  readonly #id: string;
  readonly #topic: string;
  readonly #seats: LiveSeats;
  #asking: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, id: string) {
    this.#api = api;
    this.#id = id;
    this.#topic = `seats:${id}`;
    const params = { path: { event_id: id } };
    this.#seats = new LiveSeats(
      async () => (await answer(api.GET('/api/events/{event_id}/seats', { params }))).data,
    );
  }

  get states(): SeatStates | undefined {
    return this.#seats.states;
  }

  /** Older messages that are still on their way change nothing afterwards. */
  readSeats(): Promise<void> {
    return this.#seats.load();
  }

  async load(): Promise<void> {
    this.status = this.plan ? this.status : 'loading';
    try {
      const params = { path: { event_id: this.#id } };
      const [event, seating] = await Promise.all([
        answer(this.#api.GET('/api/events/{event_id}', { params })),
        answer(this.#api.GET('/api/events/{event_id}/layout', { params })),
        this.readPrices(),
        this.readFree(),
      ]);
      const [venue, config] = await Promise.all([
        this.#readVenue(event.data.venue_id),
        this.#readConfig(seating.data.event_layout.layout_id),
        this.#seats.load(),
      ]);
      this.event = event.data;
      this.venue = venue;
      this.plan = readPlan(config, seating.data.zones);
      this.status = 'ready';
    } catch (thrown) {
      this.problem = missingEvent(ApiError.from(thrown));
      this.status = 'failed';
    }
  }

  /** Until the returned function is called. */
  follow(client: Pick<LiveClient, 'subscribe'>): () => void {
    const leave = client.subscribe(this.#topic, {
      onMessage: (data, seq) => this.#hear(data, seq),
      onResync: (seq) => {
        this.#seats.missed(seq);
        this.#again();
      },
    });
    return () => {
      clearTimeout(this.#asking);
      leave();
    };
  }

  async readPrices(): Promise<void> {
    const params = { path: { event_id: this.#id } };
    const [prices, types] = await Promise.all([
      answer(this.#api.GET('/api/events/{event_id}/prices', { params })),
      answer(this.#api.GET('/api/events/{event_id}/ticket-types', { params })),
    ]);
    this.offers = new Map(prices.data.map(({ zone_id: id, offers }) => [id, offers]));
    this.types = new Map(types.data.map((type) => [type.id, type]));
  }

  /** How many tickets for these days can be had there; null for all days of the event. */
  freeFor(zoneId: string, days: readonly string[] | null): number {
    const { least, days: counts } = this.free.get(zoneId) ?? { least: 0, days: new Map() };
    const wanted = (days ?? []).flatMap((day): number[] => counts.get(day) ?? []);
    return wanted.length > 0 ? Math.min(...wanted) : least;
  }

  async readFree(): Promise<void> {
    const params = { path: { event_id: this.#id } };
    const { data } = await answer(this.#api.GET('/api/events/{event_id}/availability', { params }));
    this.free = new Map(
      data.zones.map(({ zone_id: id, available: least, days = [] }) => {
        const counts = new Map(days.map(({ day, available }) => [day, available]));
        return [id, { least, days: counts }];
      }),
    );
  }

  #hear(data: Record<string, unknown>, seq: number): void {
    const isEnough = this.#seats.hear(data.seats, seq);
    if (data.event === 'places_changed') this.#hearPlaces(data.places);
    if (data.event === 'layout_changed') void this.load();
    else if (!isEnough) this.#again();
  }

  /** Where nothing is numbered: how many are free on the fullest day. Null where that is to be asked. */
  #hearPlaces(places: unknown): void {
    if (!Array.isArray(places)) return void this.readFree().catch(() => undefined);
    const told = (places as [string, number][]).map(([id, least]): [string, FreePlaces] => {
      const days = this.free.get(id)?.days ?? new Map<string, number>();
      return [id, { least, days: days.size > 1 ? days : new Map() }];
    });
    this.free = new Map([...this.free, ...told]);
    if (told.some(([, { days }]) => days.size > 1)) this.#askDaysSoon();
  }

  /** Of which day it was is not told, and a thousand who watch do not ask each time. */
  #askDaysSoon(): void {
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined;
      this.readFree().catch(() => undefined);
    }, DAYS_ASKED_MS);
  }

  /** A reader of hints waits for nobody: what cannot be read now is read after the next hint. */
  #again(): void {
    this.#seats.load().catch(() => undefined);
    this.readFree().catch(() => undefined);
  }

  async #readVenue(venueId: string): Promise<Venue> {
    const params = { path: { venue_id: venueId } };
    return (await answer(this.#api.GET('/api/venues/{venue_id}', { params }))).data;
  }

  #readConfig(layoutId: string): Promise<unknown> {
    const params = { path: { layout_id: layoutId } };
    return answer(this.#api.GET('/api/layouts/{layout_id}/config', { params }));
  }
}

/** An address that no event can have is, for people, that of one that is not there. */
function missingEvent(error: ApiError): ApiError {
  if (error.code !== 'not_found') return error;
  return new ApiError('event_not_found', 'There is no such event.', {}, error.status);
}
