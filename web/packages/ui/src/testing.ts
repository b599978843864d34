import type { Api, Session } from '@voelgoed/api';
import { createApi } from '@voelgoed/api';
import { Memory } from './memory.ts';

/** A memory that lasts as long as the test. */
export function aMemory(): Memory {
  const items = new Map<string, string>();
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  return new Memory(() => storage);
}

type Permission = Session['permissions'][number];

export type Answers = Record<string, (request: Request) => Response | Promise<Response>>;

/** An API whose answers are given per `METHOD /path`; what is not given is not reachable. */
export function anApi(answers: Answers, onUnauthorized?: () => void): Api {
  return createApi({
    baseUrl: 'https://voelgoed.test',
    fetch: async (request) => {
      const given = answers[`${request.method} ${new URL(request.url).pathname}`];
      if (!given) throw new TypeError('Failed to fetch');
      return given(request);
    },
    ...(onUnauthorized && { onUnauthorized }),
  });
}

export function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status });
}

export function refusal(status: number, error: string, message = 'No.'): Response {
  return json(status, { error, message, details: {} });
}

export function aSession(permissions: Permission[] = []): Session {
  return {
    user: {
      id: '01990000-0000-7000-8000-000000000001',
      organization_id: '01990000-0000-7000-8000-000000000002',
      name: 'Thandi Nel',
      email: 'thandi@example.com',
      role: 'organiser',
      status: 'active',
      version: 1,
      created_at: '2029-01-01T00:00:00Z',
      updated_at: '2029-01-01T00:00:00Z',
    },
    organization: {
      id: '01990000-0000-7000-8000-000000000002',
      slug: 'die-skuur',
      name: 'Die Skuur',
    },
    permissions,
    expires_at: '2030-01-01T00:00:00Z',
  };
}
