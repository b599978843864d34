import { anApi, json, refusal } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
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
  expect(view.orders).toHaveLength(1);
});

test('a failure is told', async () => {
  const view = new OrdersView(anApi({ 'GET /api/orders': () => refusal(403, 'forbidden') }));
  await view.search('', '');
  expect(view.status).toBe('failed');
});
