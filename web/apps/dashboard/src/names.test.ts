import { anApi, aSession, json, refusal } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { Names } from './names.svelte.ts';

const { user: self } = aSession();

test('whoever is logged in is known, and others are asked for once', async () => {
  const asked: string[] = [];
  const api = anApi({
    'GET /api/users/t': () => {
      asked.push('t');
      return json(200, { data: { id: 't', name: 'Thabo Nkosi' } });
    },
  });
  const names = new Names(api, self, true);
  expect(names.of(self.id)).toBe('Thandi Nel');
  await names.learn(['t', null, 't', self.id]);
  await names.learn(['t']);
  expect(names.of('t')).toBe('Thabo Nkosi');
  expect(asked).toEqual(['t']);
});

test('who may not read people, and who is not there, is told no name and no fault', async () => {
  const forbidden = new Names(anApi({}), self, false);
  await forbidden.learn(['t']);
  expect(forbidden.of('t')).toBeUndefined();
  const gone = new Names(anApi({ 'GET /api/users/t': () => refusal(404, 'x') }), undefined, true);
  await gone.learn(['t']);
  expect([gone.of('t'), gone.of(null)]).toEqual([undefined, undefined]);
});
