import type { Alert, ConflictInFull, Recovery } from '@voelgoed/api';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { WorkQueues } from './work_queues.svelte.ts';

const SCANNING = '/api/scanning';
const EVENT = `${SCANNING}/events/event`;
const conflict = { id: 'c', version: 4, state: 'open' } as ConflictInFull['conflict'];
const alert = { id: 'a', version: 2, state: 'open', severity: 'low' } as Alert;
const recovery = { id: 'r', batch_id: 'b', state: 'unverified' } as Recovery;

function aServer(asked: string[] = []): Answers {
  const list = (item: unknown) => (request: Request) => {
    const url = new URL(request.url);
    asked.push(`${url.pathname.split('/').at(-1)} ${url.searchParams.get('state')}`);
    return json(200, { data: [item], next: null });
  };
  return {
    [`GET ${EVENT}/conflicts`]: list({ conflict, scan: {}, winner: {} }),
    [`GET ${EVENT}/alerts`]: list(alert),
    [`GET ${EVENT}/recoveries`]: list(recovery),
  };
}

async function theQueues(answers: Answers): Promise<WorkQueues> {
  const queues = new WorkQueues(anApi(answers), 'event');
  await queues.load();
  return queues;
}

test('shows what is open, and everything when asked', async () => {
  const asked: string[] = [];
  const queues = await theQueues(aServer(asked));
  expect(asked).toEqual(['conflicts open', 'alerts open', 'recoveries unverified']);
  asked.length = 0;
  await queues.showDecided(true);
  expect(asked).toEqual(['conflicts null', 'alerts null', 'recoveries null']);
});

test('a decision goes out with its reason and the version that was seen', async () => {
  const answers = aServer();
  const sent: unknown[] = [];
  const take = async (request: Request) => {
    sent.push(await request.json());
    return json(200, { data: {} });
  };
  answers[`POST ${SCANNING}/conflicts/c/transitions`] = take;
  answers[`POST ${SCANNING}/alerts/a/transitions`] = take;
  answers[`POST ${SCANNING}/recoveries/b/transitions`] = take;
  const queues = await theQueues(answers);
  expect(await queues.decideConflict(conflict, 'reviewed', 'A family.')).toBe(true);
  expect(await queues.decideAlert(alert, 'resolved', 'Replaced.')).toBe(true);
  expect(await queues.decideRecovery(recovery, 'accepted', 'The network was down.')).toBe(true);
  expect(sent).toEqual([
    { to: 'reviewed', note: 'A family.', version: 4 },
    { to: 'resolved', note: 'Replaced.', version: 2 },
    { to: 'accepted', note: 'The network was down.' },
  ]);
});

test('deciding a conflict reads the alerts again: the server has dealt with its own', async () => {
  const asked: string[] = [];
  const answers = aServer(asked);
  answers[`POST ${SCANNING}/conflicts/c/transitions`] = () => json(200, { data: {} });
  const queues = await theQueues(answers);
  asked.length = 0;
  expect(await queues.decideConflict(conflict, 'reviewed', 'A family.')).toBe(true);
  expect(asked.sort()).toEqual(['alerts open', 'conflicts open']);
});

test('the alert that says what a conflict says is known by its ticket', async () => {
  const answers = aServer();
  const double = { ...alert, kind: 'double_entry', subject_id: 't', severity: 'critical' };
  answers[`GET ${EVENT}/alerts`] = () => json(200, { data: [alert, double], next: null });
  const queues = await theQueues(answers);
  expect(queues.alerts.items[0]).toMatchObject({ kind: 'double_entry' });
  const entered = { ...conflict, kind: 'double_entry', ticket_id: 't' } as typeof conflict;
  expect(queues.alertOf(entered)?.subject_id).toBe('t');
});

test('whoever decided can be asked for by name', async () => {
  const answers = aServer();
  const decided = { ...alert, reviewed_by_id: 'u' };
  answers[`GET ${EVENT}/alerts`] = () => json(200, { data: [decided], next: null });
  expect((await theQueues(answers)).deciders).toContain('u');
});

test('who was too late sees what the other did, and that it was so', async () => {
  const asked: string[] = [];
  const answers = aServer(asked);
  answers[`POST ${SCANNING}/conflicts/c/transitions`] = () =>
    refusal(409, 'version_conflict', 'Somebody else changed this.');
  const queues = await theQueues(answers);
  expect(await queues.decideConflict(conflict, 'dismissed', 'x')).toBe(false);
  expect(queues.refusal).toMatchObject({ id: 'c', error: { code: 'version_conflict' } });
  expect(asked.filter((list) => list.startsWith('conflicts'))).toHaveLength(2);
  expect(queues.deciding).toBeUndefined();
});
