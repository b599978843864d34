import {
  answer,
  ApiError,
  coalesced,
  type Api,
  type Event,
  type Gate,
  type Venue,
} from '@voelgoed/api';

/** One event and its gates, kept as fresh as the server's hints allow. */
export class EventView {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  event = $state.raw<Event | undefined>();
  venue = $state.raw<Venue | undefined>();
  gates = $state.raw<Gate[]>([]);
  /** Why the last reading failed. */
  problem = $state.raw<ApiError | undefined>();
  /** Why the last change of a gate was refused; stays until the next one. */
  refusal = $state.raw<ApiError | undefined>();
  /** The gate that is being opened or closed. */
  changing = $state<string | undefined>();

  /** Many hints at once are one reading. */
  readonly load: () => Promise<void>;

  readonly #api: Api;
  readonly #id: string;

  constructor(api: Api, id: string) {
    this.#api = api;
    this.#id = id;
    this.load = coalesced(() => this.#load());
  }

  /** Where the event takes place; until that is known, everybody's. */
  get timeZone(): string {
    return this.venue?.timezone ?? 'UTC';
  }

  async setGate(gate: Gate, status: Gate['status']): Promise<void> {
    if (this.changing) return;
    this.changing = gate.id;
    this.refusal = undefined;
    try {
      const { data } = await answer(
        this.#api.PATCH('/api/events/{event_id}/gates/{gate_id}', {
          params: { path: { event_id: this.#id, gate_id: gate.id } },
          body: { version: gate.version, status },
        }),
      );
      this.#merge([data]);
    } catch (thrown) {
      const error = ApiError.from(thrown);
      // Somebody else was faster: show what they did, then say so.
      if (error.status === 409) await this.load();
      this.refusal = error;
    } finally {
      this.changing = undefined;
    }
  }

  async #load(): Promise<void> {
    try {
      const [event, gates] = await Promise.all([this.#readEvent(), this.#readGates()]);
      this.venue = await this.#readVenue(event.venue_id);
      this.event = event;
      this.gates = gates.map((gate) => newest(gate, this.gates));
      this.problem = undefined;
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      if (this.status === 'loading') this.status = 'failed';
    }
  }

  async #readEvent(): Promise<Event> {
    const params = { path: { event_id: this.#id } };
    return (await answer(this.#api.GET('/api/events/{event_id}', { params }))).data;
  }

  async #readVenue(id: string): Promise<Venue> {
    if (this.venue?.id === id) return this.venue;
    const params = { path: { venue_id: id } };
    return (await answer(this.#api.GET('/api/venues/{venue_id}', { params }))).data;
  }

  async #readGates(): Promise<Gate[]> {
    const params = { path: { event_id: this.#id } };
    return (await answer(this.#api.GET('/api/events/{event_id}/gates', { params }))).data;
  }

  #merge(changed: Gate[]): void {
    this.gates = this.gates.map((gate) => newest(gate, changed));
  }
}

/** Answers may overtake each other; the version says which one is newer. */
function newest(gate: Gate, others: Gate[]): Gate {
  const other = others.find(({ id }) => id === gate.id);
  return other && other.version > gate.version ? other : gate;
}
