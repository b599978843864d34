import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { EventsView } from './events.svelte.ts';

function aServer(): Answers {
  const events: Record<string, object[]> = {
    draft: [{ id: 'draft', starts_at: '2030-03-01T10:00:00Z' }],
    live: [{ id: 'live', starts_at: '2030-01-01T10:00:00Z' }],
    ended: [
      { id: 'long ago', starts_at: '2028-01-01T10:00:00Z' },
      { id: 'lately', starts_at: '2029-12-01T10:00:00Z' },
    ],
    cancelled: [{ id: 'cancelled', starts_at: '2029-06-01T10:00:00Z' }],
  };
  return {
    'GET /api/venues': () => json(200, { data: [], next: null }),
    'GET /api/events': (request) => {
      const status = new URL(request.url).searchParams.get('status') ?? '';
      return json(200, { data: events[status] ?? [], next: null });
    },
  };
}

test('what is coming is read at once, what is over when asked for', async () => {
  const view = new EventsView(anApi(aServer()));
  await view.load();
  expect(view.coming.map(({ id }) => id)).toEqual(['live', 'draft']);
  expect(view.past).toBeUndefined();

  await view.loadPast();
  expect(view.past?.map(({ id }) => id)).toEqual(['lately', 'cancelled', 'long ago']);
});

test('a failure is told, and what was read stays', async () => {
  const answers = aServer();
  const view = new EventsView(anApi(answers));
  await view.load();
  delete answers['GET /api/events'];
  await view.loadPast();
  expect(view.problem?.code).toBe('network');
  expect(view.coming).toHaveLength(2);
  expect(view.readingPast).toBe(false);

  await view.load();
  expect(view.status).toBe('failed');
});
