import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { Whitelists } from './whitelists.svelte.ts';

const press = { id: 'w', name: 'Press', created_at: '2026-01-01T00:00:00Z' };

function aServer(): Answers {
  return {
    'GET /api/whitelists': () => json(200, { data: [press], next: null }),
    'GET /api/whitelists/w/entries': () =>
      json(200, { data: [{ email: 'a@b.c', note: 'Beeld', created_at: '' }], next: null }),
  };
}

test('a whitelist needs a name that no other has', async () => {
  const answers = aServer();
  answers['POST /api/whitelists'] = () => refusal(409, 'whitelist_name_taken');
  const { creation } = new Whitelists(anApi(answers));
  await expect(creation.create()).rejects.toMatchObject({ code: 'invalid_request' });
  creation.fields.name = 'Press';
  await expect(creation.create()).rejects.toMatchObject({ code: 'whitelist_name_taken' });
});

test('addresses are added and removed, and the list is read again', async () => {
  const answers = aServer();
  const sent: unknown[] = [];
  answers['POST /api/whitelists/w/entries'] = async (request) => {
    sent.push(await request.json());
    return json(201, { data: {} });
  };
  answers['DELETE /api/whitelists/w/entries'] = (request) => {
    sent.push(new URL(request.url).searchParams.get('email'));
    return new Response(null, { status: 204 });
  };
  const entries = new Whitelists(anApi(answers)).entriesOf(press);
  Object.assign(entries.adding.fields, { email: ' a@b.c ', note: 'Beeld' });
  await entries.adding.create();
  expect(entries.list.items).toHaveLength(1);
  expect(await entries.remove(entries.list.items[0]!)).toBe(true);
  expect(sent).toEqual([{ email: 'a@b.c', note: 'Beeld' }, 'a@b.c']);
});

test('a list that somebody else deleted meanwhile is told', async () => {
  const answers = aServer();
  answers['DELETE /api/whitelists/w'] = () => refusal(404, 'whitelist_not_found');
  const whitelists = new Whitelists(anApi(answers));
  expect(await whitelists.delete(press)).toBe(false);
  expect(whitelists.deleting.problem?.code).toBe('whitelist_not_found');
});
