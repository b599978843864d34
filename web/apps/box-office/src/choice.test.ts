import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addresses, Choice } from './choice.svelte.ts';
import { aHouse, EVENT } from './testing.ts';

const CHECK = `POST /api/events/${EVENT}/selection-checks`;
const BEST = `POST /api/events/${EVENT}/best-available`;
const GOOD = { bookable: true, problems: [], warnings: [], orphans: [], alternatives: [] };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function aChoice(answers: Answers = {}) {
  const house = await aHouse();
  const given: Answers = { [CHECK]: () => json(200, { data: GOOD }), ...answers };
  return { house, choice: new Choice(anApi(given), house, EVENT, false) };
}

test('seats are chosen and given up; the server is asked when the hand is still', async () => {
  const asked: unknown[] = [];
  const { choice } = await aChoice({
    [CHECK]: async (request) => {
      asked.push(await request.json());
      return json(200, { data: GOOD });
    },
  });
  choice.toggle(2);
  choice.toggle(3);
  await vi.advanceTimersByTimeAsync(400);
  expect(asked).toEqual([{ seat_ids: ['A-3', 'A-4'] }]);
  expect(choice.check?.bookable).toBe(true);
  choice.toggle(3);
  expect(choice.ids).toEqual(['A-3']);
  expect(choice.check).toBeUndefined();
});

test('a seat that is not free is not chosen, and it is said which', async () => {
  const { house, choice } = await aChoice();
  house.states!.apply([[3, 2]], 4);
  choice.toggle(3);
  expect(choice.selected.size).toBe(0);
  expect(choice.refused).toBe(3);
});

test('the companion is offered with a wheelchair place, until it is chosen', async () => {
  const { choice } = await aChoice();
  choice.toggle(0);
  expect(choice.companions).toEqual([1]);
  choice.toggle(1);
  expect(choice.companions).toEqual([]);
});

test('a seat that somebody else took is no longer chosen, and it is told', async () => {
  const { house, choice } = await aChoice();
  choice.toggle(2);
  choice.toggle(3);
  house.states!.apply([[2, 1]], 4);
  choice.dropTaken();
  expect(choice.ids).toEqual(['A-4']);
  expect(choice.lost).toEqual(['A-3']);
});

test('the best seats are chosen at once', async () => {
  const seats = [{ seat_id: 'A-3' }, { seat_id: 'A-4' }];
  const { choice } = await aChoice({
    [BEST]: () => json(200, { data: { seats, together: true } }),
  });
  await choice.findBest({ party: 2, zoneId: null, zoneIds: null, wheelchairs: 0 });
  expect(choice.ids).toEqual(['A-3', 'A-4']);
  expect(choice.found?.together).toBe(true);
});

test('where nothing fits, what would is offered', async () => {
  const details = {
    together: ['A-3'],
    apart: { seats: [{ seat_id: 'A-2' }, { seat_id: 'A-4' }] },
    in_other_zones: null,
  };
  const { choice } = await aChoice({
    [BEST]: () => json(409, { error: 'no_suitable_seats', message: 'No.', details }),
  });
  await choice.findBest({ party: 6, zoneId: null, zoneIds: null, wheelchairs: 0 });
  expect(choice.problem?.code).toBe('no_suitable_seats');
  expect(choice.instead).toEqual([
    { kind: 'fewer', ids: ['A-3'] },
    { kind: 'split', ids: ['A-2', 'A-4'] },
  ]);
  choice.take(choice.instead[0]!.ids);
  expect(choice.instead).toEqual([]);
});

test('where the door is not open to everybody, whoever comes along is named', async () => {
  const { house, choice } = await aChoice();
  choice.take(['A-3', 'A-4']);
  expect(choice.needsGuests).toBe(false);
  house.plan!.zones[0]!.access = 'membership_tier';
  expect(choice.needsGuests).toBe(true);
  choice.take(['A-3']);
  expect(choice.needsGuests).toBe(false);
  expect(addresses(' a@b.example, c@d.example;e@f.example ')).toHaveLength(3);
  expect(addresses(' ')).toEqual([]);
});
