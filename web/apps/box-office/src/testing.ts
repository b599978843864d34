import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { House } from './house.svelte.ts';

export const EVENT = '01990000-0000-7000-8000-00000000000e';
const AT = `/api/events/${EVENT}`;

/** Four seats, the first a wheelchair place with its companion, and a floor for ten. */
export function aServer(): Answers {
  const seats = ['A-1', 'A-2', 'A-3', 'A-4'].map((seat_id, x) => ({
    seat_id,
    row: 'A',
    number: x + 1,
    coordinates: { x, y: 0 },
    ...(x === 0 && { category: 'wheelchair', companion_seat_id: 'A-2' }),
    ...(x === 1 && { category: 'companion', companion_seat_id: 'A-1' }),
  }));
  const stalls = {
    zone_id: 'stalls',
    zone_type: 'reserved_seating',
    name: 'Stalls',
    capacity: 4,
    seats,
  };
  const floor = { zone_id: 'floor', zone_type: 'ga_standing', name: 'Floor', capacity: 10 };
  const offer = { currency: 'ZAR', left: null, max_per_order: null };
  const data = (value: unknown) => () => json(200, { data: value });
  return {
    [`GET ${AT}`]: data({
      id: EVENT,
      venue_id: 'v',
      days: [{ date: '2030-01-01' }, { date: '2030-01-02' }],
    }),
    [`GET ${AT}/layout`]: data({
      event_layout: { layout_id: 'l' },
      zones: [stalls, floor].map((zone) => ({ zone, enabled: true })),
    }),
    [`GET ${AT}/prices`]: data([
      {
        zone_id: 'stalls',
        offers: [
          { ...offer, ticket_type_id: 'full', name: 'Full price', amount_minor: 300_00 },
          { ...offer, ticket_type_id: 'half', name: 'Half price', amount_minor: 150_00 },
        ],
      },
      {
        zone_id: 'floor',
        offers: [
          { ...offer, ticket_type_id: 'pass', name: 'Pass', amount_minor: 200_00 },
          { ...offer, ticket_type_id: 'day', name: 'Day', amount_minor: 0 },
        ],
      },
    ]),
    [`GET ${AT}/ticket-types`]: data([
      { id: 'pass', name: 'Pass', valid_days: null },
      { id: 'day', name: 'Day', valid_days: ['2030-01-02'] },
    ]),
    [`GET ${AT}/availability`]: data({ zones: [{ zone_id: 'floor', available: 10 }] }),
    [`GET ${AT}/seats`]: data({ seat_count: 4, seats: btoa('\x40\x00'), seq: 3 }),
    'GET /api/venues/v': data({ id: 'v', timezone: 'UTC', name: 'Hall' }),
    'GET /api/layouts/l/config': () => json(200, { zones: [stalls, floor] }),
  };
}

export async function aHouse(answers: Answers = aServer()): Promise<House> {
  const house = new House(anApi(answers), EVENT);
  await house.load();
  return house;
}
