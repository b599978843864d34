import { answer, ApiError, type Api } from '@voelgoed/api';
import type { Method } from './checkout.svelte.ts';
import type { OrderDetails, Ticket } from './types.ts';

/** Somebody who paid elsewhere comes back before we are told: it is looked for. */
const LOOK_MS = 3_000;

const UNDECIDED: ReadonlySet<string | undefined> = new Set(['pending', 'expired']);

export type Done =
  | { what: 'mailed' }
  | { what: 'reissued'; code: string }
  /** How many were, how many of those that were good are still, and how much is given back. */
  | { what: 'refunded'; count: number; left: number; amountMinor: number };

/** Whether somebody could come in with it, or did. */
export function isGood({ status }: Pick<Ticket, 'status'>): boolean {
  return status === 'active' || status === 'scanned' || status === 'used';
}

/** Who was let in already has had what was paid for. */
export function canRefund({ status }: Pick<Ticket, 'status'>): boolean {
  return status === 'active';
}

/** One order with its tickets, and what its buyer and the box office do with it. */
export class OrderView {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  details = $state.raw<OrderDetails | undefined>();
  problem = $state.raw<ApiError | undefined>();
  isBusy = $state(false);
  done = $state.raw<Done | undefined>();

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
      this.problem = missingOrder(ApiError.from(thrown));
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

  /** Only these tickets; without them, all that can be. */
  refund(reason: string, tickets?: readonly Ticket[]): Promise<void> {
    return this.#work(async () => {
      const before = this.details!;
      const ids = tickets?.map(({ id }) => id);
      const call = this.#api.POST('/api/orders/{order_id}/refunds', {
        params: this.#params,
        body: { reason, ...(ids && { ticket_ids: ids }) },
      });
      const after = (await answer(call)).data;
      this.details = after;
      const left = after.tickets.filter(isGood).length;
      this.done = {
        what: 'refunded',
        count: before.tickets.filter(isGood).length - left,
        left,
        amountMinor: after.order.refunded_minor - before.order.refunded_minor,
      };
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

/** An address that no order can have is, for people, that of one that is not there. */
function missingOrder(error: ApiError): ApiError {
  if (error.code !== 'not_found') return error;
  return new ApiError('order_not_found', 'There is no such order.', {}, error.status);
}
