import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test, vi } from 'vitest';
import { OrderView } from './order.svelte.ts';
import type { Ticket } from './types.ts';

function anOrder(status: string, issue = 1) {
  return json(200, { data: { order: { id: 'o', status }, tickets: [{ id: 't', issue }] } });
}

async function opened(answers: Answers): Promise<OrderView> {
  const view = new OrderView(
    anApi({ 'GET /api/orders/o': () => anOrder('paid'), ...answers }),
    'o',
  );
  await view.load();
  return view;
}

test('an order that is not there is told', async () => {
  const view = await opened({ 'GET /api/orders/o': () => refusal(404, 'order_not_found') });
  expect(view.status).toBe('failed');
  expect(view.problem?.code).toBe('order_not_found');
});

function withTickets(refunded_minor: number, ...statuses: string[]) {
  const tickets = statuses.map((status, at) => ({ id: `t${at}`, status, price_minor: 100 }));
  return json(200, { data: { order: { id: 'o', status: 'paid', refunded_minor }, tickets } });
}

test('an address that no order can have is that of an order that is not there', async () => {
  const view = await opened({ 'GET /api/orders/o': () => refusal(404, 'not_found') });
  expect(view.problem?.code).toBe('order_not_found');
});

test('a refund tells how many tickets it was, how much, and that a scanned one stays', async () => {
  const asked: unknown[] = [];
  const view = await opened({
    'GET /api/orders/o': () => withTickets(0, 'active', 'active', 'scanned', 'voided'),
    'POST /api/orders/o/refunds': async (request) => {
      asked.push(await request.json());
      return withTickets(200, 'refunded', 'refunded', 'scanned', 'voided');
    },
  });
  await view.refund('ill');
  expect(asked).toEqual([{ reason: 'ill' }]);
  expect(view.done).toEqual({ what: 'refunded', count: 2, left: 1, amountMinor: 200 });
});

test('one ticket of several is refunded', async () => {
  const asked: unknown[] = [];
  const view = await opened({
    'GET /api/orders/o': () => withTickets(0, 'active', 'active'),
    'POST /api/orders/o/refunds': async (request) => {
      asked.push(await request.json());
      return withTickets(100, 'active', 'refunded');
    },
  });
  await view.refund('ill', [view.details!.tickets[1]!]);
  expect(asked).toEqual([{ reason: 'ill', ticket_ids: ['t1'] }]);
  expect(view.done).toEqual({ what: 'refunded', count: 1, left: 1, amountMinor: 100 });
});

test('a new barcode is read again', async () => {
  let issue = 1;
  const view = await opened({
    'GET /api/orders/o': () => anOrder('paid', issue),
    'POST /api/tickets/t/reissues': () => {
      issue = 2;
      return json(201, { data: {} });
    },
  });
  await view.reissue({ id: 't', code: 'ABCD' } as Ticket, 'lost');
  expect(view.details?.tickets[0]?.issue).toBe(2);
  expect(view.done).toEqual({ what: 'reissued', code: 'ABCD' });
});

test('what is refused leaves the order as it was', async () => {
  const view = await opened({ 'POST /api/orders/o/letters': () => refusal(409, 'mail_is_off') });
  await view.mail();
  expect(view.problem?.code).toBe('mail_is_off');
  expect(view.details?.order.status).toBe('paid');
  expect(view.isBusy).toBe(false);
});

test('an order that waits is paid at the counter, or where the customer is sent', async () => {
  const asked: unknown[] = [];
  const view = await opened({
    'GET /api/orders/o': () => anOrder('pending'),
    'POST /api/orders/o/payments': async (request) => {
      const body = (await request.json()) as { provider: string };
      asked.push(body);
      const redirect_url = body.provider === 'paylink' ? 'https://pay.example/1' : null;
      return json(201, { data: { order: { id: 'o', status: 'paid' }, tickets: [], redirect_url } });
    },
  });
  const gone: string[] = [];
  await view.pay('cash', (url) => gone.push(url));
  expect(view.details?.order.status).toBe('paid');
  expect(gone).toEqual([]);
  await view.pay(undefined, (url) => gone.push(url));
  expect(gone).toEqual(['https://pay.example/1']);
  expect(asked).toEqual([
    { provider: 'manual', method: 'cash', note: '' },
    { provider: 'paylink', note: '' },
  ]);
});

test('an order that waits is cancelled', async () => {
  const view = await opened({ 'POST /api/orders/o/cancellation': () => anOrder('cancelled') });
  await view.cancel();
  expect(view.details?.order.status).toBe('cancelled');
});

test('an order that waits is looked at until it was paid', async () => {
  vi.useFakeTimers();
  let status = 'pending';
  const read = vi.fn(() => anOrder(status));
  const view = await opened({ 'GET /api/orders/o': read });
  const end = view.watch();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(read).toHaveBeenCalledTimes(2);
  status = 'paid';
  await vi.advanceTimersByTimeAsync(3_000);
  expect(view.details?.order.status).toBe('paid');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(read).toHaveBeenCalledTimes(3);
  end();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
