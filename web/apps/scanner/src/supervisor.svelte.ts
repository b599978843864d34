import { answer, ApiError, createApi, type Api } from '@voelgoed/api';
import type { Device } from '@voelgoed/device';
import { problem, type Problem } from './troubles.ts';

type Reply = Awaited<ReturnType<typeof searchTickets>>;
export type FoundTicket = Reply['data'][number];

export interface Credentials {
  organization: string;
  email: string;
  password: string;
}

/** Somebody with a log-in, at this device for a moment. */
export class Supervisor {
  isLoggedIn = $state(false);
  isBusy = $state(false);
  /** What somebody should know: a fault of this page, or what went wrong. */
  refusal = $state<'refused' | 'notAllowed' | null>(null);
  problem = $state.raw<Problem | null>(null);
  /** Null before anything was looked for. */
  found = $state.raw<FoundTicket[] | null>(null);
  movedTo = $state<string | null>(null);

  readonly #device: Pick<Device, 'identity' | 'beat'>;
  readonly #api: Api;

  constructor(device: Pick<Device, 'identity' | 'beat'>, api: Api = createApi()) {
    this.#device = device;
    this.#api = api;
  }

  async logIn(given: Credentials): Promise<void> {
    const body = {
      organization: given.organization.trim().toLowerCase(),
      email: given.email.trim(),
      password: given.password,
    };
    await this.#try(async () => {
      await answer(this.#api.POST('/api/sessions', { body }));
      this.isLoggedIn = true;
    });
  }

  /** Whatever the server says, nobody here is logged in any more. */
  async logOut(): Promise<void> {
    if (!this.isLoggedIn) return;
    this.isLoggedIn = false;
    this.found = null;
    this.movedTo = null;
    await answer(this.#api.DELETE('/api/session')).catch(() => undefined);
  }

  async move(gate: { id: string; name: string }): Promise<void> {
    const { device_id } = this.#device.identity ?? {};
    if (!device_id) return;
    await this.#try(async () => {
      const params = { path: { device_id } };
      const read = this.#api.GET('/api/scanning/devices/{device_id}', { params });
      const { version } = (await answer(read)).data;
      const body = { version, gate_id: gate.id };
      await answer(this.#api.PATCH('/api/scanning/devices/{device_id}', { params, body }));
      this.movedTo = gate.name;
      await this.#device.beat().catch(() => undefined);
    });
  }

  async search(text: string): Promise<void> {
    const { event_id } = this.#device.identity ?? {};
    if (!event_id) return;
    await this.#try(async () => {
      this.found = null;
      this.found = (await searchTickets(this.#api, event_id, text.trim())).data;
    });
  }

  async #try(work: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.refusal = null;
    this.problem = null;
    try {
      await work();
    } catch (thrown) {
      this.#explain(ApiError.from(thrown));
    }
    this.isBusy = false;
  }

  #explain(error: ApiError): void {
    if (error.status === 401) {
      this.isLoggedIn = false;
      this.refusal = 'refused';
    } else if (error.status === 403) this.refusal = 'notAllowed';
    else if (error.status === 0 || error.status >= 500) this.problem = problem('server_away');
    else if (error.status === 429) this.problem = problem('rate_limited');
    else this.problem = { code: 'refused', said: error.message };
  }
}

function searchTickets(api: Api, event_id: string, search: string) {
  const params = { path: { event_id }, query: { search } };
  return answer(api.GET('/api/scanning/events/{event_id}/tickets', { params }));
}
