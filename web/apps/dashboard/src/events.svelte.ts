import { ApiError, readEvents, readVenues, type Api, type Event, type Venue } from '@voelgoed/api';

/** The events of the organisation: what is coming at once, what is over when asked for. */
export class EventsView {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  coming = $state.raw<Event[]>([]);
  past = $state.raw<Event[] | undefined>();
  venues = $state.raw(new Map<string, Venue>());
  problem = $state.raw<ApiError | undefined>();
  readingPast = $state(false);

  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(): Promise<void> {
    this.status = 'loading';
    this.problem = undefined;
    try {
      [this.venues, this.coming] = await Promise.all([
        readVenues(this.#api),
        readEvents(this.#api, ['live', 'published', 'draft']),
      ]);
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.status = 'failed';
    }
  }

  /** The latest first: who looks back mostly looks back a little. */
  async loadPast(): Promise<void> {
    this.readingPast = true;
    this.problem = undefined;
    try {
      const events = await readEvents(this.#api, ['ended', 'archived', 'cancelled']);
      this.past = events.reverse();
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
    } finally {
      this.readingPast = false;
    }
  }
}
