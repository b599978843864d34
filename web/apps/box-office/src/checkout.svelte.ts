import { answer, ApiError, type Api } from '@voelgoed/api';
import type { House } from './house.svelte.ts';
import type { Hold, Offer, OrderDetails } from './types.ts';

export const METHODS = ['cash', 'card_terminal', 'complimentary'] as const;
export type Method = (typeof METHODS)[number];

export interface Buyer {
  name: string;
  email: string;
}

/** What is sold for a hold. A place is held for certain days, and only their tickets fit. */
export function offersFor(hold: Hold, house: House): Offer[] {
  const offers = house.offers.get(hold.zone_id) ?? [];
  if (hold.days === null) return offers;
  const all = house.event!.days.map(({ date }) => date);
  const held = hold.days.join();
  return offers.filter(({ ticket_type_id: id }) => {
    const valid = house.types.get(id)?.valid_days ?? all;
    return all.filter((day) => valid.includes(day)).join() === held;
  });
}

/** From holds to an order. */
export class Checkout {
  /** The ticket type of each hold, where somebody chose another than the first. */
  chosen = $state<Record<string, string>>({});
  isBusy = $state(false);
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;
  readonly #house: House;

  constructor(api: Api, house: House) {
    this.#api = api;
    this.#house = house;
  }

  offerOf(hold: Hold): Offer | undefined {
    const offers = offersFor(hold, this.#house);
    const wanted = this.chosen[hold.hold_id];
    return offers.find(({ ticket_type_id: id }) => id === wanted) ?? offers[0];
  }

  total(holds: readonly Hold[]): number {
    return holds.reduce(
      (sum, hold) => sum + (this.offerOf(hold)?.amount_minor ?? 0) * hold.places,
      0,
    );
  }

  /** With a method the box office has taken the money; else the customer pays, if it costs. */
  async place(
    holds: readonly Hold[],
    buyer: Buyer,
    method: Method | undefined,
  ): Promise<OrderDetails | undefined> {
    if (this.isBusy) return undefined;
    this.isBusy = true;
    this.problem = undefined;
    const costs = this.total(holds) > 0;
    const payment =
      method !== undefined
        ? { provider: 'manual' as const, method, note: '' }
        : costs
          ? { provider: 'paylink' as const, note: '' }
          : null;
    try {
      const items = holds.map((hold) => ({
        hold_id: hold.hold_id,
        ticket_type_id: this.offerOf(hold)!.ticket_type_id,
        count: hold.places,
        holder_name: buyer.name,
      }));
      const body = {
        items,
        buyer_name: buyer.name,
        buyer_email: buyer.email || null,
        payment,
        note: '',
      };
      const { data } = await answer(this.#api.POST('/api/orders', { body }));
      return data;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      return undefined;
    } finally {
      this.isBusy = false;
    }
  }
}
