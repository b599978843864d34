import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { OrganizationSetup } from './organization_setup.svelte.ts';

const here = { id: 's', current: true, user_agent: 'Firefox', ip: '::1' };

function aServer(): Answers {
  return {
    'GET /api/organization': () => json(200, { data: { id: 'o', slug: 'skuur', name: 'Skuur' } }),
    'GET /api/sessions': () => json(200, { data: [here] }),
  };
}

test('the organisation gets another name, but never none', async () => {
  const answers = aServer();
  const sent: unknown[] = [];
  answers['PATCH /api/organization'] = async (request) => {
    sent.push(await request.json());
    return json(200, { data: { id: 'o', slug: 'skuur', name: 'Die Skuur' } });
  };
  const { organization } = new OrganizationSetup(anApi(answers));
  await organization.load();
  organization.fields.name = '  ';
  await expect(organization.save()).rejects.toMatchObject({ code: 'invalid_request' });
  organization.fields.name = ' Die Skuur ';
  await organization.save();
  expect(sent).toEqual([{ name: 'Die Skuur' }]);
  expect(organization.fields.name).toBe('Die Skuur');
});

test('a new password leaves no trace in the fields, a refused one stays to be mended', async () => {
  const answers = aServer();
  answers['PUT /api/session/password'] = () => refusal(403, 'wrong_password');
  const { password, sessions } = new OrganizationSetup(anApi(answers));
  password.fields.current_password = 'wrong';
  await expect(password.create()).rejects.toMatchObject({ code: 'wrong_password' });
  expect(password.fields.current_password).toBe('wrong');
  answers['PUT /api/session/password'] = () => new Response(null, { status: 204 });
  await password.create();
  expect(password.fields.current_password).toBe('');
  expect(sessions.items).toHaveLength(1);
});
