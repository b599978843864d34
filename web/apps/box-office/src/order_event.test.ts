import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { OrderEvent } from './order_event.svelte.ts';
import { aServer, EVENT } from './testing.ts';
import type { Right } from './types.ts';

const AT = `/api/events/${EVENT}`;

function aRight(more: Partial<Right> = {}): Right {
  return {
    ticket_type_id: 'pass',
    zone_id: 'stalls',
    seat_id: 's1',
    seat_label: 'A-1',
    days: ['2030-01-01'],
    price_minor: 300_00,
    ...more,
  };
}

const SEAT: Answers = {
  [`GET ${AT}/seats/s1`]: () => json(200, { data: { id: 's1', row: 'A', number: 1 } }),
};

test('an order knows its event, venue, ticket types, zones and rows', async () => {
  const about = new OrderEvent(anApi({ ...aServer(), ...SEAT }));
  await about.load(EVENT, [aRight()]);
  expect(about.event?.id).toBe(EVENT);
  expect(about.venue?.name).toBe('Hall');
  expect(about.types.get('pass')?.name).toBe('Pass');
  expect(about.zones.get('stalls')).toBe('Stalls');
  expect(about.seats.get('s1')).toMatchObject({ row: 'A', number: 1 });
});

test('what cannot be read is left out, and the rest is there', async () => {
  const answers = { ...aServer(), ...SEAT };
  delete answers[`GET ${AT}/ticket-types`];
  delete answers[`GET ${AT}/seats/s1`];
  const about = new OrderEvent(anApi(answers));
  await about.load(EVENT, [aRight()]);
  expect(about.event?.id).toBe(EVENT);
  expect(about.zones.get('stalls')).toBe('Stalls');
  expect(about.types.size).toBe(0);
});

test('days are named where there are others', async () => {
  const about = new OrderEvent(anApi({ ...aServer(), ...SEAT }));
  await about.load(EVENT, []);
  expect(about.daysOf(aRight())).toEqual(['2030-01-01']);
  about.event = { ...about.event!, days: about.event!.days.slice(0, 1) };
  expect(about.daysOf(aRight())).toEqual([]);
});
