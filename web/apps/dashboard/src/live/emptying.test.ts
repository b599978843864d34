import { anApi, json } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { Emptying } from './emptying.svelte.ts';

const POST_RESETS = 'POST /api/scanning/events/event/occupancy/resets';

test('nothing is sent without a reason', async () => {
  const emptying = new Emptying(anApi({}), 'event');
  emptying.fields.reason = '  ';
  expect(await emptying.declare()).toBe(false);
  expect(emptying.isMissing).toBe(true);
});

test('what was refused keeps its reason, and is sent again as the same', async () => {
  const keys: (string | null)[] = [];
  const sent: unknown[] = [];
  const emptying = new Emptying(
    anApi({
      [POST_RESETS]: async (request) => {
        keys.push(request.headers.get('Idempotency-Key'));
        sent.push(await request.json());
        return keys.length === 1
          ? json(503, { error: 'storage_busy', message: 'Busy.' })
          : json(201, { data: {} });
      },
    }),
    'event',
  );
  emptying.fields.reason = ' Closing round ';
  expect(await emptying.declare()).toBe(false);
  expect(emptying.form.problem?.code).toBe('storage_busy');
  expect(await emptying.declare()).toBe(true);
  expect(sent).toEqual([{ reason: 'Closing round' }, { reason: 'Closing round' }]);
  expect(keys[0]).toBe(keys[1]);
  expect(emptying.fields.reason).toBe('');
});
