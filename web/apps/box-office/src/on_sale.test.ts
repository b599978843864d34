import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { OnSaleView } from './on_sale.svelte.ts';

function aServer(): Answers {
  const events: Record<string, object[]> = {
    live: [{ id: 'now', starts_at: '2030-01-02T10:00:00Z' }],
    published: [
      { id: 'later', starts_at: '2030-03-01T10:00:00+02:00' },
      { id: 'first', starts_at: '2030-01-01T10:00:00Z' },
    ],
  };
  return {
    'GET /api/venues': () => json(200, { data: [], next: null }),
    'GET /api/events': (request) => {
      const status = new URL(request.url).searchParams.get('status') ?? '';
      return json(200, { data: events[status] ?? [], next: null });
    },
  };
}

test('published and live events, the next one first', async () => {
  const view = new OnSaleView(anApi(aServer()));
  await view.load();
  expect(view.events.map(({ id }) => id)).toEqual(['first', 'now', 'later']);
  expect(view.status).toBe('ready');
});

test('a failure is told, and reading again helps', async () => {
  const answers: Answers = {};
  const view = new OnSaleView(anApi(answers));
  await view.load();
  expect(view.status).toBe('failed');
  expect(view.problem?.code).toBe('network');
  Object.assign(answers, aServer());
  await view.load();
  expect(view.status).toBe('ready');
});
