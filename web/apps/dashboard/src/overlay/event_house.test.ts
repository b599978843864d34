import type { LiveListener } from '@voelgoed/api';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test, vi } from 'vitest';
import { aLayout, aRow } from '../layouts/testing.ts';
import { EventHouse } from './event_house.svelte.ts';

const AT = '/api/events/event';
const LAYOUT = `GET ${AT}/layout`;
const PUT = `PUT ${AT}/layout`;
/** However busy the machine is. */
const SOON_MS = 30_000;

function aServer(overrides: object = {}): Answers {
  const data = (value: unknown) => () => json(200, { data: value });
  const zone = { zone_id: 'stalls', name: 'Stalls', zone_type: 'reserved_seating', capacity: 2 };
  return {
    [`GET ${AT}`]: data({ id: 'event', venue_id: 'venue' }),
    [LAYOUT]: data({
      event_layout: { layout_id: 'one', version: 3, overrides },
      zones: [{ zone, enabled: true }],
    }),
    [`GET ${AT}/seats`]: data({ seat_count: 2, seats: btoa('\x00'), seq: 1 }),
    'GET /api/layouts/one/config': () => json(200, aRow([1, 2])),
    'GET /api/venues/venue/layouts': () =>
      json(200, { data: [aLayout(), aLayout({ id: 'old', status: 'archived' })], next: null }),
  };
}

async function aHouse(answers: Answers): Promise<EventHouse> {
  const house = new EventHouse(anApi(answers), 'event');
  await house.load();
  return house;
}

/** What was sent. */
function putting(answers: Answers): unknown[] {
  const bodies: unknown[] = [];
  answers[PUT] = async (request) => {
    bodies.push(await request.json());
    return json(200, { data: {} });
  };
  return bodies;
}

test('an event with a layout has a plan, and what its seats are', async () => {
  const house = await aHouse(aServer());
  expect([house.status, house.layout?.name]).toEqual(['ready', 'Hall']);
  expect(house.plan?.seats.ids).toEqual(['A-1', 'A-2']);
  expect(house.states?.counts[0]).toBe(2);
});

test('an event without one offers the active layouts of its venue', async () => {
  const answers = aServer();
  answers[LAYOUT] = () => refusal(404, 'event_layout_not_found');
  const house = await aHouse(answers);
  expect([house.status, house.seating]).toEqual(['ready', undefined]);
  expect(house.choices.map(({ id }) => id)).toEqual(['one']);
  const bodies = putting(answers);
  expect(await house.use('one')).toBe(true);
  expect(bodies).toEqual([{ layout_id: 'one', overrides: {}, version: null }]);
});

test('a zone is closed and a seat blocked, and everything else stays as it was', async () => {
  const kept = { pricing_zones: { stalls: { pricing_rule_id: 'rule' } } };
  const answers = aServer({ ...kept, disabled_zones: ['pit'], blocked_seat_ids: ['A-1'] });
  const bodies = putting(answers);
  const house = await aHouse(answers);
  await house.setZone('stalls', false);
  await house.setZone('pit', true);
  await house.setBlocked(['A-1', 'A-2'], true);
  await house.setBlocked(['A-1'], false);
  const same = { layout_id: 'one', version: 3 };
  expect(bodies).toMatchObject([
    { ...same, overrides: { ...kept, disabled_zones: ['pit', 'stalls'] } },
    { ...same, overrides: { ...kept, disabled_zones: [] } },
    { ...same, overrides: { ...kept, blocked_seat_ids: ['A-1', 'A-2'] } },
    { ...same, overrides: { ...kept, blocked_seat_ids: [] } },
  ]);
});

test('a refusal is told, with what the event has now', async () => {
  const answers = aServer();
  const house = await aHouse(answers);
  answers[PUT] = () => refusal(409, 'layout_frozen');
  Object.assign(answers, { [LAYOUT]: aServer({ disabled_zones: ['stalls'] })[LAYOUT] });
  expect(await house.setZone('stalls', false)).toBe(false);
  expect(house.refusal?.code).toBe('layout_frozen');
  expect(house.seating?.event_layout.overrides.disabled_zones).toEqual(['stalls']);
});

test('what others do with the seats is seen, and a new layout is read', async () => {
  const answers = aServer();
  const house = await aHouse(answers);
  let listener: LiveListener | undefined;
  house.follow({ subscribe: (_, given) => ((listener = given), () => undefined) });
  listener!.onMessage({ event: 'seats_changed', seats: [[1, 2]] }, 2);
  expect(house.states?.codeAt(1)).toBe(2);
  answers[LAYOUT] = () => refusal(404, 'event_layout_not_found');
  listener!.onMessage({ event: 'layout_changed' }, 3);
  await vi.waitFor(() => expect(house.seating).toBeUndefined(), { timeout: SOON_MS });
});

test('a failure is told, and reading again helps', async () => {
  const house = new EventHouse(anApi({}), 'event');
  await house.load();
  expect([house.status, house.problem?.code]).toEqual(['failed', 'network']);
});
