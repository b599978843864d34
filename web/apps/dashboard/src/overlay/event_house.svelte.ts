import {
  answer,
  ApiError,
  readLayouts,
  type Api,
  type EventSeating,
  type Layout,
  type LayoutOverrides,
  type LiveClient,
} from '@voelgoed/api';
import { LiveSeats, readPlan, type SeatPlan, type SeatStates } from '@voelgoed/seat-map';
import { readConfig } from '../layouts/layout_view.svelte.ts';

/** How an event uses a layout: which one, with what differences, and what its seats are now. */
export class EventHouse {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<ApiError | undefined>();
  /** Why the last change of the layout was refused; stays until the next one. */
  refusal = $state.raw<ApiError | undefined>();
  isBusy = $state(false);
  /** Undefined of an event that has no layout. */
  seating = $state.raw<EventSeating | undefined>();
  plan = $state.raw<SeatPlan | undefined>();
  venueId = $state('');
  /** All of the venue's, the newest versions first. */
  layouts = $state.raw<Layout[]>([]);

  readonly #api: Api;
  readonly #id: string;
  readonly #seats: LiveSeats;
  #layoutId = '';
  #config: unknown;

  constructor(api: Api, id: string) {
    this.#api = api;
    this.#id = id;
    const params = { path: { event_id: id } };
    this.#seats = new LiveSeats(
      async () => (await answer(api.GET('/api/events/{event_id}/seats', { params }))).data,
    );
  }

  get states(): SeatStates | undefined {
    return this.#seats.states;
  }

  get layout(): Layout | undefined {
    return this.layouts.find(({ id }) => id === this.seating?.event_layout.layout_id);
  }

  /** Those that an event may begin with. */
  get choices(): Layout[] {
    return this.layouts.filter(({ status }) => status === 'active');
  }

  async load(): Promise<void> {
    try {
      const params = { path: { event_id: this.#id } };
      const [event, seating] = await Promise.all([
        answer(this.#api.GET('/api/events/{event_id}', { params })),
        this.#readSeating(),
      ]);
      const [layouts] = await Promise.all([
        readLayouts(this.#api, event.data.venue_id),
        seating && this.#readHouse(seating),
      ]);
      this.venueId = event.data.venue_id;
      this.layouts = layouts.toSorted((one, other) => other.version - one.version);
      this.seating = seating;
      this.problem = undefined;
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      if (this.status === 'loading') this.status = 'failed';
    }
  }

  /** Until the returned function is called. */
  follow(client: Pick<LiveClient, 'subscribe'>): () => void {
    return client.subscribe(`seats:${this.#id}`, {
      onMessage: (data, seq) => {
        const isEnough = this.#seats.hear(data.seats, seq);
        if (data.event === 'layout_changed') void this.load();
        else if (!isEnough) this.#again();
      },
      onResync: (seq) => {
        this.#seats.missed(seq);
        this.#again();
      },
    });
  }

  /** Gives the event another layout; what it did differently was about the one before. */
  use(layoutId: string): Promise<boolean> {
    return this.#put(layoutId, {});
  }

  change(changes: Partial<LayoutOverrides>): Promise<boolean> {
    const { layout_id: id, overrides } = this.seating!.event_layout;
    return this.#put(id, { ...overrides, ...changes });
  }

  setZone(zoneId: string, isEnabled: boolean): Promise<boolean> {
    const { disabled_zones: before = [] } = this.seating!.event_layout.overrides;
    const others = before.filter((id) => id !== zoneId);
    return this.change({ disabled_zones: isEnabled ? others : [...others, zoneId] });
  }

  /** In the layout itself, and not as something that broke. */
  setBlocked(seatIds: readonly string[], isBlocked: boolean): Promise<boolean> {
    const { blocked_seat_ids: before = [] } = this.seating!.event_layout.overrides;
    const named = new Set(seatIds);
    const others = before.filter((id) => !named.has(id));
    return this.change({ blocked_seat_ids: isBlocked ? [...others, ...named] : others });
  }

  async #put(layoutId: string, overrides: Partial<LayoutOverrides>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.refusal = undefined;
    const version = this.seating?.event_layout.version ?? null;
    try {
      await answer(
        this.#api.PUT('/api/events/{event_id}/layout', {
          params: { path: { event_id: this.#id } },
          body: { layout_id: layoutId, overrides, version },
        }),
      );
      return true;
    } catch (thrown) {
      this.refusal = ApiError.from(thrown);
      return false;
    } finally {
      // Also after a refusal: somebody else's change is shown beside the reason.
      await this.load();
      this.isBusy = false;
    }
  }

  /** A reader of hints waits for nobody: what cannot be read now is read after the next hint. */
  #again(): void {
    this.#seats.load().catch(() => undefined);
  }

  async #readSeating(): Promise<EventSeating | undefined> {
    const params = { path: { event_id: this.#id } };
    try {
      return (await answer(this.#api.GET('/api/events/{event_id}/layout', { params }))).data;
    } catch (thrown) {
      if (ApiError.from(thrown).code === 'event_layout_not_found') return undefined;
      throw thrown;
    }
  }

  async #readHouse({ event_layout: { layout_id: layoutId }, zones }: EventSeating): Promise<void> {
    await Promise.all([this.#readConfig(layoutId), this.#seats.load()]);
    this.plan = readPlan(this.#config, zones);
  }

  /** A layout never changes: another one is another id. */
  async #readConfig(layoutId: string): Promise<void> {
    if (this.#layoutId === layoutId) return;
    this.#config = await readConfig(this.#api, layoutId);
    this.#layoutId = layoutId;
  }
}
