import { ApiError, readEvents, readVenues, type Api, type Event, type Venue } from '@voelgoed/api';

/** The events that are sold or running, the next one first. */
export class OnSaleView {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  events = $state.raw<Event[]>([]);
  venues = $state.raw(new Map<string, Venue>());
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async load(): Promise<void> {
    this.status = 'loading';
    try {
      [this.venues, this.events] = await Promise.all([
        readVenues(this.#api),
        readEvents(this.#api, ['live', 'published']),
      ]);
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.status = 'failed';
    }
  }
}
