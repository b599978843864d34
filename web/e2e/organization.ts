import type { Page } from '@playwright/test';
import type { LogIn } from './demo.ts';
import { freshFetch } from './fresh_fetch.ts';

const COOKIE = 'voelgoed_session';
/** Who opens an app without it is not asked for a session. */
const SIGNED_IN_KEY = 'voelgoed.signed_in';
const PASSWORD = 'a long walk on the beach';
const HOUR_MS = 3_600_000;
const PAGE_MAX = 200;

export type Role = 'customer' | 'box_office' | 'gate_supervisor';

interface Listed<T> {
  data: T[];
  next: string | null;
}

/** A tenant of a server, and what its owner asks of the API. */
export class Organization {
  /** One session of the owner will do: there are only so many log-ins in a quarter of an hour. */
  #token: Promise<string> | undefined;
  #people = 0;

  constructor(
    readonly url: string,
    readonly slug: string,
    readonly owner: LogIn,
  ) {}

  /** Somebody nobody has seen before, who can log in; with a tier, a member. */
  async addPerson(role: Role = 'customer', tier?: string): Promise<LogIn> {
    this.#people += 1;
    const email = `person-${this.#people}-${crypto.randomUUID()}@example.com`;
    const body = { email, name: `Person ${this.#people}`, role, password: PASSWORD };
    const { id } = await this.ask<{ id: string }>('POST', '/api/users', body);
    const valid_from = new Date(Date.now() - HOUR_MS).toISOString();
    if (tier) await this.ask('POST', `/api/users/${id}/memberships`, { tier, valid_from });
    return { email, password: PASSWORD };
  }

  /** Gives the page's browser a session without the form, for tests that are not about it. */
  async signIn(page: Page, who: LogIn = this.owner): Promise<void> {
    const token = await (who === this.owner ? this.#ownersToken() : this.#logIn(who));
    const { hostname: domain, origin } = new URL(this.url);
    const cookie = { name: COOKIE, value: token, domain, path: '/', expires: -1 };
    await page.context().setStorageState({
      cookies: [{ ...cookie, httpOnly: true, secure: false, sameSite: 'Strict' }],
      origins: [{ origin, localStorage: [{ name: SIGNED_IN_KEY, value: 'yes' }] }],
    });
  }

  #ownersToken(): Promise<string> {
    return (this.#token ??= this.#logIn(this.owner));
  }

  async #logIn(who: LogIn): Promise<string> {
    const body = JSON.stringify({ organization: this.slug, ...who });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await freshFetch(`${this.url}/api/sessions`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`log-in: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: { token: string } }).data.token;
  }

  async ask<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.request(method, path, body);
    return ((await answer.json()) as { data: T }).data;
  }

  /** Everything that a route lists, page by page. */
  async list<T>(path: string): Promise<T[]> {
    const found: T[] = [];
    let after = '';
    for (;;) {
      const answer = await this.request('GET', `${path}?limit=${PAGE_MAX}${after}`);
      const page = (await answer.json()) as Listed<T>;
      found.push(...page.data);
      if (!page.next) return found;
      after = `&after=${page.next}`;
    }
  }

  /** A body that is a text is a table. */
  async request(method: string, path: string, body?: unknown): Promise<Response> {
    const isTable = typeof body === 'string';
    const headers: Record<string, string> = {
      Authorization: `Bearer ${await this.#ownersToken()}`,
    };
    if (body !== undefined) headers['Content-Type'] = isTable ? 'text/csv' : 'application/json';
    const answer = await freshFetch(this.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: isTable ? body : JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}
