import { readPlan, SeatStates } from '@voelgoed/seat-map';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { aRow } from '../layouts/testing.ts';
import { SeatBlocks } from './seat_blocks.svelte.ts';

const BLOCK = 'POST /api/events/event/seat-blocks';
const LIFT = 'POST /api/events/event/seat-blocks/lifted';

function someBlocks(answers: Answers = {}, count = 4): SeatBlocks {
  const plan = readPlan(aRow(Array.from({ length: count }, (_, at) => at + 1)));
  const states = new SeatStates(new Uint8Array(count), 0);
  return new SeatBlocks(anApi(answers), 'event', { plan, states });
}

async function asked(request: Request): Promise<{ seat_ids: string[]; including_taken?: boolean }> {
  return (await request.json()) as { seat_ids: string[]; including_taken?: boolean };
}

test('a click chooses a seat or its row, and a second one lets go', () => {
  const blocks = someBlocks();
  blocks.toggle(1);
  expect(blocks.seatIds).toEqual(['A-2']);
  blocks.choosing = 'row';
  blocks.toggle(1);
  expect(blocks.seatIds).toHaveLength(4);
  blocks.toggle(3);
  expect(blocks.seatIds).toEqual([]);
});

test('the chosen seats are blocked, with a reason, and no longer chosen', async () => {
  const blocks = someBlocks({
    [BLOCK]: async (request) => {
      const body = await asked(request);
      expect(body).toEqual({ seat_ids: ['A-1', 'A-3'], reason: 'wet', including_taken: false });
      return json(200, { data: { changed: ['A-1'], unchanged: ['A-3'] } });
    },
  });
  blocks.toggleAll([0, 2]);
  expect(await blocks.block('wet')).toBe(true);
  expect([blocks.selected.size, blocks.changed]).toEqual([0, { count: 1, to: 'blocked' }]);
});

test('held and sold seats are named, and blocked only when that is said', async () => {
  const blocks = someBlocks({
    [BLOCK]: async (request) => {
      const { including_taken: isSaid, seat_ids: ids } = await asked(request);
      if (isSaid) return json(200, { data: { changed: ids, unchanged: [] } });
      const details = { seat_ids: ['A-2'] };
      return json(409, { error: 'seat_taken', message: 'No.', details });
    },
  });
  blocks.toggleAll([0, 1]);
  expect(await blocks.block('wet')).toBe(false);
  expect([blocks.taken, blocks.refusal, blocks.selected.size]).toEqual([['A-2'], undefined, 2]);
  expect(await blocks.block('wet', true)).toBe(true);
  expect(blocks.taken).toEqual([]);
});

test('more seats than the server takes at once go in several calls', async () => {
  const sizes: number[] = [];
  const blocks = someBlocks(
    {
      [LIFT]: async (request) => {
        const { seat_ids: ids } = await asked(request);
        sizes.push(ids.length);
        return json(200, { data: { changed: ids, unchanged: [] } });
      },
    },
    6_000,
  );
  blocks.toggleAll(Array.from({ length: 6_000 }, (_, at) => at));
  expect(await blocks.unblock('dry')).toBe(true);
  expect(sizes).toEqual([5_000, 1_000]);
  expect(blocks.changed).toEqual({ count: 6_000, to: 'lifted' });
});

test('a refusal is told, and the choice stays', async () => {
  const blocks = someBlocks({ [LIFT]: () => refusal(409, 'seat_blocked_by_layout') });
  blocks.toggle(0);
  expect(await blocks.unblock('dry')).toBe(false);
  expect([blocks.refusal?.code, blocks.selected.size]).toEqual(['seat_blocked_by_layout', 1]);
  blocks.clear();
  expect(blocks.refusal).toBeUndefined();
});

test('what the chosen seats are is counted', () => {
  const blocks = someBlocks();
  blocks.toggleAll([0, 1]);
  expect([...blocks.counts()]).toEqual([[0, 2]]);
});
