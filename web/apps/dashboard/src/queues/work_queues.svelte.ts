import {
  answer,
  ApiError,
  type Alert,
  type Api,
  type ConflictInFull,
  type Recovery,
} from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';
import { bySeverity, conflictOf } from './alert_facts.ts';

const PAGE_LIMIT = 50;
/** As many as there are in a page: the server gives the newest first, and critical ones go before. */
const ALERTS_LIMIT = 200;

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
    this.alerts = new Listing(async (after) => {
      const query = { ...this.#query('open', after), limit: ALERTS_LIMIT };
      const url = '/api/scanning/events/{event_id}/alerts';
      const { data, next } = await answer(api.GET(url, { params: { path, query } }));
      return { data: bySeverity(data), next };
    });
    this.recoveries = new Listing((after) => {
      const query = this.#query('unverified', after);
      const url = '/api/scanning/events/{event_id}/recoveries';
      return answer(api.GET(url, { params: { path, query } }));
    });
  }

  /** Whoever decided about something that is shown. */
  get deciders(): (string | null)[] {
    const shown = [
      ...this.conflicts.items.map(({ conflict }) => conflict),
      ...this.alerts.items,
      ...this.recoveries.items,
    ];
    return shown.map(({ reviewed_by_id }) => reviewed_by_id);
  }

  /** Whether all conflicts that are open are there: what is not among them is decided. */
  get knowsConflicts(): boolean {
    const { status, problem, hasMore } = this.conflicts;
    return status === 'ready' && !problem && !hasMore;
  }

  conflictOf(alert: Alert): ConflictInFull | undefined {
    return alert.subject_type === 'ticket' ? conflictOf(alert, this.conflicts.items) : undefined;
  }

  /** The alert that says of a ticket what the conflict says. */
  alertOf({ ticket_id }: Conflict): Alert | undefined {
    return this.alerts.items.find(
      (alert) => alert.kind === 'double_entry' && alert.subject_id === ticket_id,
    );
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

  /** The server deals with its alert too, once no conflict of the ticket is open. */
  decideConflict({ id, version }: Conflict, to: Conflict['state'], note: string) {
    const params = { path: { conflict_id: id } };
    const path = '/api/scanning/conflicts/{conflict_id}/transitions';
    const decide = () => answer(this.#api.POST(path, { params, body: { to, note, version } }));
    return this.#decide(id, decide, this.conflicts, this.alerts);
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
    ...lists: { load: () => Promise<void> }[]
  ): Promise<boolean> {
    if (this.deciding) return false;
    const load = () => Promise.all(lists.map((list) => list.load()));
    this.deciding = id;
    this.refusal = undefined;
    try {
      await decide();
      await load();
      return true;
    } catch (thrown) {
      const error = ApiError.from(thrown);
      // Somebody else was faster: show what they did, then say so.
      if (error.status === 409) await load();
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
