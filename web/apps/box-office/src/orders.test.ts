import { anApi, json, refusal } from '@voelgoed/ui/testing';
import { expect, test, vi } from 'vitest';
import { OrdersView } from './orders.svelte.ts';

test('orders are looked up by number or address, without the blanks around them', async () => {
  const asked: string[] = [];
  const api = anApi({
    'GET /api/orders': ({ url }) => {
      asked.push(new URL(url).search);
      return json(200, { data: [{ id: 'o' }], next: null });
    },
  });
  const view = new OrdersView(api);
  await view.search('', '');
  await view.search(' VG-1 ', 'a@b.example');
  expect(asked).toEqual(['?limit=50', '?limit=50&number=VG-1&email=a%40b.example']);
  expect(view.list.items).toHaveLength(1);
  expect(view.list.hasMore).toBe(false);
});

test('more orders than fit on a page are read when somebody wants them', async () => {
  const api = anApi({
    'GET /api/orders': ({ url }) =>
      new URL(url).searchParams.get('after') === 'here'
        ? json(200, { data: [{ id: 'p' }], next: null })
        : json(200, { data: [{ id: 'o' }], next: 'here' }),
  });
  const view = new OrdersView(api);
  await view.search('', '');
  expect(view.list.hasMore).toBe(true);
  await view.list.more();
  expect(view.list.items.map(({ id }) => id)).toEqual(['o', 'p']);
  expect(view.list.hasMore).toBe(false);
});

test('each event is read once, and an order whose event cannot be read is shown', async () => {
  const read = vi.fn(() => json(200, { data: { id: 'e', name: 'Fees' } }));
  const api = anApi({
    'GET /api/orders': () =>
      json(200, { data: ['o', 'p'].map((id) => ({ id, event_id: 'e' })), next: null }),
    'GET /api/events/e': read,
    'GET /api/venues': () => json(200, { data: [], next: null }),
  });
  const view = new OrdersView(api);
  await view.search('', '');
  await vi.waitFor(() => expect(view.events.get('e')?.name).toBe('Fees'));
  await view.search('', 'x@y.example');
  expect(read).toHaveBeenCalledTimes(1);
  const poor = new OrdersView(
    anApi({ 'GET /api/orders': () => json(200, { data: [{ id: 'o', event_id: 'e' }] }) }),
  );
  await poor.search('', '');
  expect(poor.list.items).toHaveLength(1);
});

test('a failure is told', async () => {
  const view = new OrdersView(anApi({ 'GET /api/orders': () => refusal(403, 'forbidden') }));
  await view.search('', '');
  expect(view.list.status).toBe('failed');
});
