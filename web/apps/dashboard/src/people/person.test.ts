import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { Person } from './person.svelte.ts';

const NOW = Date.parse('2026-11-17T08:00:00Z');
const thandi = { id: 'u', name: 'Thandi', role: 'organiser', status: 'active', version: 3 };
const gold = {
  membership: { id: 'm', tier: 'gold', status: 'active', valid_to: null, version: 2 },
  in_force: true,
};

function aServer(): Answers {
  return {
    'GET /api/users/u': () => json(200, { data: thandi }),
    'GET /api/users/u/memberships': () => json(200, { data: [gold] }),
  };
}

function aPerson(answers: Answers): Person {
  return new Person(anApi(answers), 'u', 'Africa/Johannesburg', () => NOW);
}

test('a role is changed with the version that was seen, and the rest is left alone', async () => {
  const answers = aServer();
  let sent: unknown;
  answers['PATCH /api/users/u'] = async (request) => {
    sent = await request.json();
    return json(200, { data: { ...thandi, role: 'admin', version: 4 } });
  };
  const { account } = aPerson(answers);
  await account.load();
  account.fields.role = 'admin';
  await account.save();
  expect(sent).toEqual({ version: 3, role: 'admin' });
  expect(account.isSaved).toBe(true);
});

test('that the last owner stays is told, and what was chosen stays to be mended', async () => {
  const answers = aServer();
  answers['PATCH /api/users/u'] = () => refusal(409, 'last_owner');
  const { account } = aPerson(answers);
  await account.load();
  account.fields.status = 'disabled';
  expect(await account.form.submit(account.save)).toBe(false);
  expect(account.form.problem?.code).toBe('last_owner');
  expect(account.fields.status).toBe('disabled');
});

test('a membership begins now unless somebody says when, on the reader’s clock', async () => {
  const answers = aServer();
  let sent: unknown;
  answers['POST /api/users/u/memberships'] = async (request) => {
    sent = await request.json();
    return json(201, { data: gold });
  };
  const { granting, memberships } = aPerson(answers);
  Object.assign(granting.fields, { tier: 'gold', valid_to: '2027-11-17T10:00' });
  await granting.create();
  expect(sent).toEqual({
    tier: 'gold',
    status: 'active',
    valid_from: '2026-11-17T08:00:00Z',
    valid_to: '2027-11-17T08:00:00Z',
  });
  expect(memberships.items).toHaveLength(1);
});

test('a membership is suspended, and who was too late sees it as it is', async () => {
  const answers = aServer();
  const sent: unknown[] = [];
  answers['PATCH /api/memberships/m'] = async (request) => {
    sent.push(await request.json());
    return refusal(409, 'version_conflict');
  };
  const person = aPerson(answers);
  await person.memberships.load();
  const edited = person.edited(person.memberships.items[0]!);
  edited.fields.status = 'suspended';
  const later = { ...gold, membership: { ...gold.membership, version: 7 } };
  answers['GET /api/users/u/memberships'] = () => json(200, { data: [later] });
  await expect(edited.save()).rejects.toMatchObject({ code: 'version_conflict' });
  await expect(edited.save()).rejects.toBeDefined();
  expect(sent).toEqual([
    { version: 2, status: 'suspended' },
    { version: 7, status: 'suspended' },
  ]);
});
