import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { People } from './people.svelte.ts';

const thandi = { id: 'u', name: 'Thandi Nel', role: 'organiser' };

test('everybody is listed, or those of a role', async () => {
  const asked: (string | null)[] = [];
  const people = new People(
    anApi({
      'GET /api/users': (request) => {
        asked.push(new URL(request.url).searchParams.get('role'));
        return json(200, { data: [thandi], next: null });
      },
    }),
  );
  await people.list.load();
  await people.show('organiser');
  expect(asked).toEqual([null, 'organiser']);
  expect(people.list.items).toHaveLength(1);
});

test('a new account is sent once, and listed', async () => {
  const sent: unknown[] = [];
  const answers: Answers = {
    'GET /api/users': () => json(200, { data: [thandi], next: null }),
    'POST /api/users': async (request) => {
      sent.push([await request.json(), request.headers.get('Idempotency-Key')]);
      return json(201, { data: thandi });
    },
  };
  const { creation, list } = new People(anApi(answers));
  const fields = { name: ' Thandi ', email: 't@x.za', password: ' long enough ', role: 'admin' };
  Object.assign(creation.fields, fields);
  await creation.create();
  expect(sent).toEqual([[{ ...fields, name: 'Thandi' }, expect.stringMatching(/^[0-9a-f]{32}$/)]]);
  expect(list.items).toHaveLength(1);
});

test('an address that has an account is refused, and what was typed stays', async () => {
  const { creation } = new People(anApi({ 'POST /api/users': () => refusal(409, 'email_taken') }));
  await expect(creation.create()).rejects.toMatchObject({ code: 'invalid_request' });
  Object.assign(creation.fields, { name: 'A', email: 'a@b.c', password: 'long enough' });
  await expect(creation.create()).rejects.toMatchObject({ code: 'email_taken' });
  expect(creation.fields.name).toBe('A');
});
