import type { Event, Gate } from '@voelgoed/api';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { EventView } from './event.svelte.ts';

const EVENT_ID = '01990000-0000-7000-8000-00000000000a';
const VENUE_ID = '01990000-0000-7000-8000-00000000000b';
const GATE_ID = '01990000-0000-7000-8000-00000000000c';
const PATCH_GATE = `PATCH /api/events/${EVENT_ID}/gates/${GATE_ID}`;
const GET_GATES = `GET /api/events/${EVENT_ID}/gates`;

function anEvent(): Event {
  return {
    id: EVENT_ID,
    venue_id: VENUE_ID,
    name: 'Koor en Kitaar',
    description: '',
    status: 'published',
    starts_at: '2030-01-01T16:00:00Z',
    ends_at: '2030-01-01T20:00:00Z',
    sale_start: null,
    sale_end: null,
    capacity: 100,
    days: [],
    version: 1,
    created_at: '2029-01-01T00:00:00Z',
    updated_at: '2029-01-01T00:00:00Z',
  };
}

function aGate(status: Gate['status'], version: number): Gate {
  return {
    id: GATE_ID,
    event_id: EVENT_ID,
    code: 'north',
    name: 'North',
    allowed_zones: null,
    capacity: null,
    hard_capacity_limit: null,
    status,
    version,
    created_at: '2029-01-01T00:00:00Z',
    updated_at: '2029-01-01T00:00:00Z',
  };
}

function aServer(gate: Gate): Answers {
  return {
    [`GET /api/events/${EVENT_ID}`]: () => json(200, { data: anEvent() }),
    [GET_GATES]: () => json(200, { data: [gate] }),
    [`GET /api/venues/${VENUE_ID}`]: () =>
      json(200, { data: { id: VENUE_ID, name: 'Die Skuur', timezone: 'Africa/Johannesburg' } }),
  };
}

async function aView(answers: Answers): Promise<EventView> {
  const view = new EventView(anApi(answers), EVENT_ID);
  await view.load();
  return view;
}

function onlyGate(view: EventView): Gate {
  const [gate] = view.gates;
  if (!gate) throw new Error('the view has no gate');
  return gate;
}

test('shows the event, its venue and its gates', async () => {
  const view = await aView(aServer(aGate('open', 1)));
  expect(view.status).toBe('ready');
  expect(view.event?.name).toBe('Koor en Kitaar');
  expect(view.venue?.timezone).toBe('Africa/Johannesburg');
  expect(view.gates).toHaveLength(1);
});

test('an event that cannot be read says why, and can be read later', async () => {
  const answers: Answers = {};
  const view = await aView(answers);
  expect(view.status).toBe('failed');
  expect(view.problem?.code).toBe('network');
  Object.assign(answers, aServer(aGate('open', 1)));
  await view.load();
  expect(view.status).toBe('ready');
  expect(view.problem).toBeUndefined();
});

test('what was read stays on the screen when a later reading fails', async () => {
  const answers = aServer(aGate('open', 1));
  const view = await aView(answers);
  delete answers[GET_GATES];
  await view.load();
  expect(view.status).toBe('ready');
  expect(view.gates).toHaveLength(1);
  expect(view.problem).toBeDefined();
});

test('closing a gate sends the version it saw and shows the answer', async () => {
  const answers = aServer(aGate('open', 3));
  let sent: unknown;
  answers[PATCH_GATE] = async (request) => {
    sent = await request.json();
    return json(200, { data: aGate('closed', 4) });
  };
  const view = await aView(answers);
  await view.setGate(onlyGate(view), 'closed');
  expect(sent).toEqual({ version: 3, status: 'closed' });
  expect(onlyGate(view).status).toBe('closed');
  expect(view.changing).toBeUndefined();
});

test('who was too late sees what the other did, and that it was so', async () => {
  const answers = aServer(aGate('open', 3));
  const view = await aView(answers);
  answers[PATCH_GATE] = () => refusal(409, 'version_conflict', 'Somebody was faster.');
  answers[GET_GATES] = () => json(200, { data: [aGate('closed', 4)] });
  await view.setGate(onlyGate(view), 'closed');
  expect(onlyGate(view)).toMatchObject({ status: 'closed', version: 4 });
  expect(view.refusal?.message).toBe('Somebody was faster.');

  await view.load();
  expect(view.refusal?.message).toBe('Somebody was faster.');
});

test('a reading that began before a change does not undo it', async () => {
  const answers = aServer(aGate('open', 3));
  const view = await aView(answers);
  answers[PATCH_GATE] = () => json(200, { data: aGate('closed', 4) });
  await view.setGate(onlyGate(view), 'closed');
  await view.load();
  expect(onlyGate(view)).toMatchObject({ status: 'closed', version: 4 });
});
