import { expect, test } from 'vitest';
import { SessionState } from './session.svelte.ts';
import { aMemory, anApi, aSession, json, refusal, type Answers } from './testing.ts';

const credentials = { organization: 'die-skuur', email: 'thandi@example.com', password: 'secret' };

function aLogIn(answers: Answers = {}): Answers {
  return {
    'POST /api/sessions': () => json(201, { data: {} }),
    'GET /api/session': () => json(200, { data: aSession(['gates.write']) }),
    'DELETE /api/session': () => new Response(null, { status: 204 }),
    ...answers,
  };
}

function aSessionState(answers: Answers, memory = aMemory()): SessionState {
  const session: SessionState = new SessionState(
    anApi(answers, () => session.ended()),
    memory,
  );
  return session;
}

test('a first visit asks for a log-in without asking the server', async () => {
  const session = aSessionState({});
  await session.restore();
  expect(session.status).toBe('signed_out');
});

test('logging in tells who it is and what they may do', async () => {
  const session = aSessionState(aLogIn());
  await session.logIn(credentials);
  expect(session.status).toBe('signed_in');
  expect(session.current?.user.name).toBe('Thandi Nel');
  expect(session.may('gates.write')).toBe(true);
  expect(session.may('users.write')).toBe(false);
});

test('registering logs in as well', async () => {
  const session = aSessionState(
    aLogIn({ 'POST /api/registrations': () => json(201, { data: {} }) }),
  );
  await session.register({ ...credentials, name: 'Thandi Nel' });
  expect(session.status).toBe('signed_in');
});

test('logging out everywhere ends it here as well', async () => {
  const session = aSessionState(
    aLogIn({ 'DELETE /api/sessions': () => new Response(null, { status: 204 }) }),
  );
  await session.logIn(credentials);
  await session.logOutEverywhere();
  expect([session.status, session.hasEnded]).toEqual(['signed_out', false]);
});

test('a refused log-in is thrown for the form to show', async () => {
  const session = aSessionState(
    aLogIn({ 'POST /api/sessions': () => refusal(401, 'invalid_credentials', 'Wrong.') }),
  );
  await session.restore();
  await expect(session.logIn(credentials)).rejects.toMatchObject({ message: 'Wrong.' });
  expect(session.status).toBe('signed_out');
  expect(session.problem).toBeUndefined();
});

test('a later visit finds the session again', async () => {
  const memory = aMemory();
  await aSessionState(aLogIn(), memory).logIn(credentials);
  const session = aSessionState(aLogIn(), memory);
  await session.restore();
  expect(session.status).toBe('signed_in');
});

test('a later visit whose session has run out asks for a log-in', async () => {
  const memory = aMemory();
  await aSessionState(aLogIn(), memory).logIn(credentials);
  const gone = { 'GET /api/session': () => refusal(401, 'unauthorized') };
  const session = aSessionState(aLogIn(gone), memory);
  await session.restore();
  expect(session.status).toBe('signed_out');
});

test('a later visit without a network says so, and can try again', async () => {
  const memory = aMemory();
  await aSessionState(aLogIn(), memory).logIn(credentials);
  const answers: Answers = {};
  const session = aSessionState(answers, memory);
  await session.restore();
  expect(session.status).toBe('unreachable');
  expect(session.problem?.code).toBe('network');

  Object.assign(answers, aLogIn());
  await session.restore();
  expect(session.status).toBe('signed_in');
});

test('logging out forgets the session', async () => {
  const memory = aMemory();
  const session = aSessionState(aLogIn(), memory);
  await session.logIn(credentials);
  await session.logOut();
  expect(session.status).toBe('signed_out');
  expect(session.current).toBeUndefined();
  await session.restore();
  expect(session.status).toBe('signed_out');
});

test('logging out without a network admits that the session still stands', async () => {
  const answers = aLogIn();
  const session = aSessionState(answers);
  await session.logIn(credentials);
  delete answers['DELETE /api/session'];
  await session.logOut();
  expect(session.status).toBe('signed_in');
  expect(session.problem?.code).toBe('network');
});

test('logging out of a session that the server forgot is a log-out', async () => {
  const session = aSessionState(
    aLogIn({ 'DELETE /api/session': () => refusal(401, 'unauthorized') }),
  );
  await session.logIn(credentials);
  await session.logOut();
  expect(session.status).toBe('signed_out');
  expect(session.problem).toBeUndefined();
});

test('a session that ends while the app is open says why the log-in is back', async () => {
  const answers = aLogIn();
  const session = aSessionState(answers);
  await session.logIn(credentials);
  answers['GET /api/session'] = () => refusal(401, 'unauthorized');
  await session.check();
  expect(session.status).toBe('signed_out');
  expect(session.hasEnded).toBe(true);
});

test('a check without a network changes nothing', async () => {
  const answers = aLogIn();
  const session = aSessionState(answers);
  await session.logIn(credentials);
  delete answers['GET /api/session'];
  await session.check();
  expect(session.status).toBe('signed_in');
});
