import createClient, { type Client } from 'openapi-fetch';
import { ApiError } from './error.ts';
import type { paths } from './schema.d.ts';

const REQUEST_TIMEOUT_MS = 15_000;
const WAIT_SECONDS_MAX = 600;

/** For a request with a large body: how long the caller is willing to wait (RFC 7240). */
export const PATIENTLY = { Prefer: 'wait=120' } as const;

export type Api = Client<paths>;

export interface ApiOptions {
  /** Where the server is; the apps are served by it and leave this empty. */
  baseUrl?: string;
  fetch?: (request: Request) => Promise<Response>;
  /** Called when the server no longer knows the session of a call. */
  onUnauthorized?: () => void;
}

export function createApi(options: ApiOptions = {}): Api {
  const send = options.fetch ?? ((request: Request) => fetch(request));
  const api = createClient<paths>({
    baseUrl: options.baseUrl ?? '',
    fetch: (request) => send(withTimeout(request)),
  });
  api.use({
    onResponse({ response, schemaPath }) {
      // A refused log-in is also a 401, but ends no session.
      if (response.status === 401 && schemaPath !== '/api/sessions') options.onUnauthorized?.();
    },
  });
  return api;
}

function withTimeout(request: Request): Request {
  const wait = Number(/^wait=(\d+)$/.exec(request.headers.get('Prefer') ?? '')?.[1] ?? 0);
  const timeoutMs = Math.max(REQUEST_TIMEOUT_MS, Math.min(wait, WAIT_SECONDS_MAX) * 1_000);
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  return new Request(request, { signal });
}

interface Reply<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The body of a good answer; anything else is thrown as an `ApiError`. */
export async function answer<T>(call: Promise<Reply<T>>): Promise<T> {
  const reply = await call.catch((thrown: unknown) => {
    // The body of a good answer is parsed inside the call: a page in place of JSON ends here.
    if (thrown instanceof SyntaxError) throw ApiError.unreadable(200);
    throw ApiError.from(thrown);
  });
  if (!reply.response.ok) throw ApiError.fromBody(reply.error, reply.response.status);
  return reply.data as T;
}
