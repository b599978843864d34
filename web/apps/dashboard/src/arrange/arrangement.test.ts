import type { Event } from '@voelgoed/api';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { Arrangement, NewEvent } from './arrangement.svelte.ts';

const ZONE = 'Africa/Johannesburg';
const concert: Event = {
  id: 'e',
  venue_id: 'v',
  name: 'Koor en Kitaar',
  description: '',
  status: 'draft',
  starts_at: '2030-01-01T16:00:00Z',
  ends_at: '2030-01-01T20:00:30Z',
  sale_start: null,
  sale_end: null,
  capacity: 100,
  days: [],
  version: 5,
  created_at: '2029-01-01T00:00:00Z',
  updated_at: '2029-01-01T00:00:00Z',
};

function aServer(sent: unknown[] = []): Answers {
  return {
    'GET /api/venues': () => json(200, { data: [{ id: 'v', timezone: ZONE }], next: null }),
    'GET /api/events/e': () => json(200, { data: concert }),
    'POST /api/events': async (request) => {
      sent.push(await request.json());
      return json(201, { data: concert });
    },
    'PATCH /api/events/e': async (request) => {
      sent.push(await request.json());
      return json(200, { data: { ...concert, version: 6 } });
    },
  };
}

test('an event is made on the clock of its venue', async () => {
  const sent: unknown[] = [];
  const { creation, venues } = new NewEvent(anApi(aServer(sent)));
  await venues.load();
  Object.assign(creation.fields, {
    venue_id: 'v',
    name: 'Koor en Kitaar',
    starts_at: '2030-01-01T18:00',
    ends_at: '2030-01-01T22:00',
    capacity: '100',
  });
  await creation.create();
  expect(sent).toEqual([
    {
      venue_id: 'v',
      name: 'Koor en Kitaar',
      description: '',
      starts_at: '2030-01-01T16:00:00Z',
      ends_at: '2030-01-01T20:00:00Z',
      sale_start: null,
      sale_end: null,
      capacity: 100,
    },
  ]);
});

test('whatever is missing is told together', async () => {
  const { creation } = new NewEvent(anApi(aServer()));
  expect(await creation.form.submit(creation.create)).toBe(false);
  for (const field of ['venue_id', 'name', 'starts_at', 'ends_at', 'capacity']) {
    expect(creation.form.fault(field)).toBe('is missing');
  }
});

test('a date that nobody touched is not sent, not even its lost seconds', async () => {
  const sent: unknown[] = [];
  const { edited } = new Arrangement(anApi(aServer(sent)), concert, ZONE);
  edited.fields.capacity = '120';
  await edited.save();
  edited.fields.sale_end = '2030-01-01T12:00';
  await edited.save();
  expect(sent).toEqual([
    { version: 5, capacity: 120 },
    { version: 6, sale_end: '2030-01-01T10:00:00Z' },
  ]);
});

test('a step is taken and the event is read again, so that it can be changed after it', async () => {
  const answers = aServer();
  let moved: unknown;
  answers['POST /api/events/e/transitions'] = async (request) => {
    moved = await request.json();
    answers['GET /api/events/e'] = () =>
      json(200, { data: { ...concert, status: 'published', version: 6 } });
    return json(200, { data: {} });
  };
  const arrangement = new Arrangement(anApi(answers), concert, ZONE);
  expect(await arrangement.take('published')).toBe(true);
  expect(moved).toEqual({ to: 'published' });
  expect(arrangement.edited.current).toMatchObject({ status: 'published', version: 6 });
});

test('a step that is refused is told with how the event stands', async () => {
  const answers = aServer();
  answers['POST /api/events/e/transitions'] = () => refusal(409, 'invalid_transition');
  answers['DELETE /api/events/e'] = () => refusal(409, 'event_has_tickets');
  const arrangement = new Arrangement(anApi(answers), concert, ZONE);
  answers['GET /api/events/e'] = () => json(200, { data: { ...concert, status: 'cancelled' } });
  expect(await arrangement.take('published')).toBe(false);
  expect(arrangement.stepping.problem?.code).toBe('invalid_transition');
  expect(arrangement.edited.current?.status).toBe('cancelled');
  expect(await arrangement.take('delete')).toBe(false);
  expect(arrangement.stepping.problem?.code).toBe('event_has_tickets');
});
