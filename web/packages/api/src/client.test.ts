import { expect, test, vi } from 'vitest';
import { answer, createApi } from './client.ts';
import { ApiError } from './error.ts';

const BASE_URL = 'https://voelgoed.test';

function apiAnswering(response: Response, onUnauthorized?: () => void) {
  const fetch = vi.fn(async (_request: Request) => response);
  const api = createApi({ baseUrl: BASE_URL, fetch, ...(onUnauthorized && { onUnauthorized }) });
  return { api, fetch };
}

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status });
}

async function failure(call: Promise<unknown>): Promise<ApiError> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ApiError);
  return thrown as ApiError;
}

const wrongPassword = { organization: 'o', email: 'a@b.example', password: 'x' };

test('a good answer is its body', async () => {
  const { api, fetch } = apiAnswering(json(200, { data: [], next: null }));
  const page = await answer(api.GET('/api/events', { params: { query: { limit: 200 } } }));
  expect(page).toEqual({ data: [], next: null });
  expect(fetch.mock.calls[0]?.[0].url).toBe(`${BASE_URL}/api/events?limit=200`);
});

test('an answer without a body is fine', async () => {
  const { api } = apiAnswering(new Response(null, { status: 204 }));
  await expect(answer(api.DELETE('/api/session'))).resolves.toBeUndefined();
});

test('a refusal keeps its code, message, details and status', async () => {
  const body = { error: 'rate_limited', message: 'Wait a minute.', details: { seconds: 60 } };
  const { api } = apiAnswering(json(429, body));
  const error = await failure(answer(api.POST('/api/sessions', { body: wrongPassword })));
  expect(error).toMatchObject({
    code: 'rate_limited',
    message: 'Wait a minute.',
    details: { seconds: 60 },
    status: 429,
  });
});

test('names the fields that the server found fault with', () => {
  const faults = [
    { path: '$.email', message: 'Expected a string' },
    { path: 'password', message: 'Too short' },
  ];
  expect(new ApiError('invalid_request', 'Faults.', { faults }, 422).faultyFields).toEqual([
    'email',
    'password',
  ]);
  expect(ApiError.network().faultyFields).toEqual([]);
});

test('a lost connection is told in words, not as the browser says it', async () => {
  const fetch = () => Promise.reject(new TypeError('Failed to fetch'));
  const error = await failure(answer(createApi({ baseUrl: BASE_URL, fetch }).GET('/api/session')));
  expect(error.code).toBe('network');
  expect(error.message).toContain('cannot be reached');
});

test.each([
  ['a captive portal', 200],
  ['a broken proxy', 502],
])('the page of %s is not shown', async (_name, status) => {
  const { api } = apiAnswering(new Response('<h1>Hello</h1>', { status }));
  const error = await failure(answer(api.GET('/api/session')));
  expect(error).toMatchObject({ code: 'unreadable', status });
});

test('an unknown session is reported once, a refused log-in is not', async () => {
  const refusal = { error: 'unauthorized', message: 'Log in.', details: {} };
  const onUnauthorized = vi.fn();
  const events = apiAnswering(json(401, refusal), onUnauthorized);
  await failure(answer(events.api.GET('/api/events')));
  expect(onUnauthorized).toHaveBeenCalledOnce();

  const logIn = apiAnswering(json(401, refusal), onUnauthorized);
  await failure(answer(logIn.api.POST('/api/sessions', { body: wrongPassword })));
  expect(onUnauthorized).toHaveBeenCalledOnce();
});
