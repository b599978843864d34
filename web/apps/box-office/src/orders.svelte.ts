import { answer, ApiError, type Api } from '@voelgoed/api';
import type { Order } from './types.ts';

const ORDERS_MAX = 50;

/** One's own orders, or, for who sells, everybody's: the newest first. */
export class OrdersView {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  orders = $state.raw<Order[]>([]);
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async search(number: string, email: string): Promise<void> {
    this.status = 'loading';
    const query = {
      limit: ORDERS_MAX,
      ...(number.trim() && { number: number.trim() }),
      ...(email.trim() && { email: email.trim() }),
    };
    try {
      this.orders = (await answer(this.#api.GET('/api/orders', { params: { query } }))).data;
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.status = 'failed';
    }
  }
}
