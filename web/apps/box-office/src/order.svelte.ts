import { answer, ApiError, type Api } from '@voelgoed/api';
import type { Method } from './checkout.svelte.ts';
import type { OrderDetails, Ticket } from './types.ts';

/** Somebody who paid elsewhere comes back before we are told: it is looked for. */
const LOOK_MS = 3_000;

const UNDECIDED: ReadonlySet<string | undefined> = new Set(['pending', 'expired']);

/** One order with its tickets, and what its buyer and the box office do with it. */
export class OrderView {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  details = $state.raw<OrderDetails | undefined>();
  problem = $state.raw<ApiError | undefined>();
  isBusy = $state(false);
  done = $state.raw<{ what: 'mailed' | 'refunded' } | { what: 'reissued'; code: string }>();

  readonly #api: Api;
  readonly #params: { path: { order_id: string } };

  constructor(api: Api, id: string) {
    this.#api = api;
    this.#params = { path: { order_id: id } };
  }

  async load(): Promise<void> {
    try {
      this.details = await this.#read();
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.status = 'failed';
    }
  }

  /** Looks whether an order was paid that was not, in time or too late. Returns the function that ends it. */
  watch(): () => void {
    const looking = setInterval(() => void this.#look(), LOOK_MS);
    return () => clearInterval(looking);
  }

  async #look(): Promise<void> {
    if (this.isBusy || !UNDECIDED.has(this.details?.order.status)) return;
    const found = await this.#read().catch(() => undefined);
    if (found && !this.isBusy) this.details = found;
  }

  async #read(): Promise<OrderDetails> {
    const call = this.#api.GET('/api/orders/{order_id}', { params: this.#params });
    return (await answer(call)).data;
  }

  /** With a method the box office has taken the money; else it is paid elsewhere, and we go there. */
  pay(method: Method | undefined, goTo: (url: string) => void): Promise<void> {
    return this.#work(async () => {
      const body = method
        ? { provider: 'manual' as const, method, note: '' }
        : { provider: 'paylink' as const, note: '' };
      const call = this.#api.POST('/api/orders/{order_id}/payments', {
        params: this.#params,
        body,
      });
      this.details = (await answer(call)).data;
      if (this.details.redirect_url) goTo(this.details.redirect_url);
    });
  }

  cancel(): Promise<void> {
    return this.#work(async () => {
      const call = this.#api.POST('/api/orders/{order_id}/cancellation', { params: this.#params });
      this.details = (await answer(call)).data;
    });
  }

  mail(): Promise<void> {
    return this.#work(async () => {
      await answer(this.#api.POST('/api/orders/{order_id}/letters', { params: this.#params }));
      this.done = { what: 'mailed' };
    });
  }

  refund(reason: string): Promise<void> {
    return this.#work(async () => {
      const call = this.#api.POST('/api/orders/{order_id}/refunds', {
        params: this.#params,
        body: { reason },
      });
      this.details = (await answer(call)).data;
      this.done = { what: 'refunded' };
    });
  }

  reissue(ticket: Ticket, reason: string): Promise<void> {
    return this.#work(async () => {
      const params = { path: { ticket_id: ticket.id } };
      const call = this.#api.POST('/api/tickets/{ticket_id}/reissues', {
        params,
        body: { reason },
      });
      await answer(call);
      await this.load();
      this.done = { what: 'reissued', code: ticket.code };
    });
  }

  async #work(work: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.problem = this.done = undefined;
    try {
      await work();
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
    } finally {
      this.isBusy = false;
    }
  }
}
