import { answer, ApiError, type Api, type Session } from '@voelgoed/api';
import type { Credentials, Registration } from './credentials.ts';
import type { Memory } from './memory.ts';
import { keepOrganization } from './organization.ts';

/** The session itself is a cookie that scripts cannot read; this says that there may be one. */
const SIGNED_IN_KEY = 'voelgoed.signed_in';

export type SessionStatus = 'checking' | 'unreachable' | 'signed_out' | 'signed_in';

/** Who is logged in. */
export class SessionState {
  status = $state<SessionStatus>('checking');
  current = $state.raw<Session | undefined>();
  /** The server no longer knew it: whoever is asked to log in should know why. */
  hasEnded = $state(false);
  /** Why it could not be read, or not be ended. */
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;
  readonly #memory: Memory;

  constructor(api: Api, memory: Memory) {
    this.#api = api;
    this.#memory = memory;
  }

  may(permission: Session['permissions'][number]): boolean {
    return this.current?.permissions.includes(permission) ?? false;
  }

  /** On opening the app: is there still a session from last time? */
  async restore(): Promise<void> {
    this.status = 'checking';
    if (this.#memory.recall(SIGNED_IN_KEY) === undefined) {
      this.#signOut();
      return;
    }
    try {
      await this.#read();
    } catch (thrown) {
      const error = ApiError.from(thrown);
      if (error.status === 401) this.#signOut();
      else {
        this.status = 'unreachable';
        this.problem = error;
      }
    }
  }

  async logIn(credentials: Credentials): Promise<void> {
    await answer(this.#api.POST('/api/sessions', { body: credentials }));
    await this.#begin(credentials.organization);
  }

  async register(registration: Registration): Promise<void> {
    await answer(this.#api.POST('/api/registrations', { body: registration }));
    await this.#begin(registration.organization);
  }

  logOut(): Promise<void> {
    return this.#leave(() => answer(this.#api.DELETE('/api/session')));
  }

  logOutEverywhere(): Promise<void> {
    return this.#leave(() => answer(this.#api.DELETE('/api/sessions')));
  }

  async #leave(leave: () => Promise<unknown>): Promise<void> {
    try {
      await leave();
      this.#signOut();
    } catch (thrown) {
      const error = ApiError.from(thrown);
      if (error.status === 401) this.#signOut();
      else this.problem = error;
    }
  }

  /** Asks the server whether the session still stands; `ended` hears if it does not. */
  async check(): Promise<void> {
    if (this.status !== 'signed_in') return;
    // Unreachable is no answer to the question.
    await this.#read().catch(() => undefined);
  }

  /** The server refused a call because it no longer knows the session. */
  ended(): void {
    if (this.status !== 'signed_in') return;
    this.#signOut();
    this.hasEnded = true;
  }

  async #begin(organization: string): Promise<void> {
    keepOrganization(organization, this.#memory);
    this.#memory.keep(SIGNED_IN_KEY, 'yes');
    await this.#read();
  }

  async #read(): Promise<void> {
    const { data } = await answer(this.#api.GET('/api/session'));
    this.current = data;
    this.status = 'signed_in';
    this.hasEnded = false;
    this.problem = undefined;
  }

  #signOut(): void {
    this.#memory.forget(SIGNED_IN_KEY);
    this.current = undefined;
    this.status = 'signed_out';
    this.hasEnded = false;
    this.problem = undefined;
  }
}
