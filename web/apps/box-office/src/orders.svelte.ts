import { answer, readVenues, type Api, type Event, type Venue } from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';
import type { Order } from './types.ts';

const PAGE_ORDERS = 50;

/** One's own orders, or, for who sells, everybody's: the newest first, as far as one wants to see. */
export class OrdersView {
  readonly list: Listing<Order>;
  /** Those that orders in the list are for. */
  events = $state.raw(new Map<string, Event>());
  venues = $state.raw(new Map<string, Venue>());

  readonly #api: Api;
  #wanted: { number?: string; email?: string } = {};

  constructor(api: Api) {
    this.#api = api;
    this.list = new Listing<Order>((after) => this.#read(after));
  }

  async search(number: string, email: string): Promise<void> {
    this.#wanted = {
      ...(number.trim() && { number: number.trim() }),
      ...(email.trim() && { email: email.trim() }),
    };
    await this.list.anew();
  }

  async #read(after: string | undefined) {
    const query = { limit: PAGE_ORDERS, ...this.#wanted, ...(after && { after }) };
    const page = await answer(this.#api.GET('/api/orders', { params: { query } }));
    // What an order is for comes a moment later than the order, and is not worth a failure.
    void this.#readEvents(page.data).catch(() => undefined);
    return page;
  }

  async #readEvents(orders: readonly Order[]): Promise<void> {
    const ids = new Set(orders.map(({ event_id: id }) => id));
    const unknown = [...ids].filter((id) => !this.events.has(id));
    if (unknown.length === 0) return;
    const [venues, ...events] = await Promise.all([
      readVenues(this.#api),
      ...unknown.map(async (event_id) => {
        const params = { path: { event_id } };
        return (await answer(this.#api.GET('/api/events/{event_id}', { params }))).data;
      }),
    ]);
    this.venues = venues;
    this.events = new Map([...this.events, ...events.map((event) => [event.id, event] as const)]);
  }
}
