import {
  answer,
  ApiError,
  type Alert,
  type Api,
  type ConflictInFull,
  type Recovery,
} from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';

const PAGE_LIMIT = 50;

type Conflict = ConflictInFull['conflict'];

/** What waits for somebody to decide about, at one event. */
export class WorkQueues {
  readonly conflicts: Listing<ConflictInFull>;
  readonly alerts: Listing<Alert>;
  readonly recoveries: Listing<Recovery>;
  withDecided = $state(false);
  /** What is being decided about. */
  deciding = $state<string | undefined>();
  /** Why the last decision was refused, and about what it was; stays until the next one. */
  refusal = $state.raw<{ id: string; error: ApiError } | undefined>();

  readonly #api: Api;

  constructor(api: Api, eventId: string) {
    this.#api = api;
    const path = { event_id: eventId };
    this.conflicts = new Listing((after) => {
      const query = this.#query('open', after);
      const url = '/api/scanning/events/{event_id}/conflicts';
      return answer(api.GET(url, { params: { path, query } }));
    });
    this.alerts = new Listing((after) => {
      const query = this.#query('open', after);
      return answer(api.GET('/api/scanning/events/{event_id}/alerts', { params: { path, query } }));
    });
    this.recoveries = new Listing((after) => {
      const query = this.#query('unverified', after);
      const url = '/api/scanning/events/{event_id}/recoveries';
      return answer(api.GET(url, { params: { path, query } }));
    });
  }

  async load(): Promise<void> {
    const lists = [this.conflicts, this.alerts, this.recoveries];
    await Promise.all(lists.map((list) => list.load()));
  }

  async showDecided(withDecided: boolean): Promise<void> {
    this.withDecided = withDecided;
    const lists = [this.conflicts, this.alerts, this.recoveries];
    await Promise.all(lists.map((list) => list.anew()));
  }

  decideConflict({ id, version }: Conflict, to: Conflict['state'], note: string) {
    const params = { path: { conflict_id: id } };
    const path = '/api/scanning/conflicts/{conflict_id}/transitions';
    const decide = () => answer(this.#api.POST(path, { params, body: { to, note, version } }));
    return this.#decide(id, decide, this.conflicts);
  }

  decideAlert({ id, version }: Alert, to: Alert['state'], note: string) {
    const params = { path: { alert_id: id } };
    const path = '/api/scanning/alerts/{alert_id}/transitions';
    const decide = () => answer(this.#api.POST(path, { params, body: { to, note, version } }));
    return this.#decide(id, decide, this.alerts);
  }

  decideRecovery({ batch_id }: Recovery, to: 'accepted' | 'rejected', note: string) {
    const params = { path: { batch_id } };
    const path = '/api/scanning/recoveries/{batch_id}/transitions';
    const decide = () => answer(this.#api.POST(path, { params, body: { to, note } }));
    return this.#decide(batch_id, decide, this.recoveries);
  }

  /** Whether it is decided now. */
  async #decide(
    id: string,
    decide: () => Promise<unknown>,
    list: { load: () => Promise<void> },
  ): Promise<boolean> {
    if (this.deciding) return false;
    this.deciding = id;
    this.refusal = undefined;
    try {
      await decide();
      await list.load();
      return true;
    } catch (thrown) {
      const error = ApiError.from(thrown);
      // Somebody else was faster: show what they did, then say so.
      if (error.status === 409) await list.load();
      this.refusal = { id, error };
      return false;
    } finally {
      this.deciding = undefined;
    }
  }

  #query<State extends string>(open: State, after: string | undefined) {
    return {
      limit: PAGE_LIMIT,
      ...(!this.withDecided && { state: open }),
      ...(after && { after }),
    };
  }
}
