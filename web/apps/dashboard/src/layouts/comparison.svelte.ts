import { answer, ApiError, type Api, type Layout, type LayoutDiff } from '@voelgoed/api';
import { readPlan, SeatStates, type SeatPlan } from '@voelgoed/seat-map';
import { onOnePaper, seatChanges, type SeatChange } from './changes.ts';
import { readConfig } from './layout_view.svelte.ts';

/** Two versions of a layout over each other: what became different from one to the other. */
export class Comparison {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  before = $state.raw<Layout | undefined>();
  after = $state.raw<Layout | undefined>();
  diff = $state.raw<LayoutDiff | undefined>();
  changes = $state.raw<SeatChange[]>([]);
  plan = $state.raw<SeatPlan | undefined>();
  states = $state.raw<SeatStates | undefined>();
  zoneNames = $state.raw(new Map<string, string>());
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;
  readonly #beforeId: string;
  readonly #afterId: string;

  constructor(api: Api, beforeId: string, afterId: string) {
    this.#api = api;
    this.#beforeId = beforeId;
    this.#afterId = afterId;
  }

  async load(): Promise<void> {
    this.status = 'loading';
    this.problem = undefined;
    try {
      const [before, after, diff, configBefore, configAfter] = await Promise.all([
        this.#layout(this.#beforeId),
        this.#layout(this.#afterId),
        this.#diff(),
        readConfig(this.#api, this.#beforeId),
        readConfig(this.#api, this.#afterId),
      ]);
      const [then, now] = [readPlan(configBefore), readPlan(configAfter)];
      this.before = before;
      this.after = after;
      this.diff = diff;
      this.changes = seatChanges(diff, then, now);
      this.plan = onOnePaper(now, then);
      this.states = new SeatStates(new Uint8Array(now.seats.ids.length), 0);
      this.zoneNames = new Map([...then.zones, ...now.zones].map(({ id, name }) => [id, name]));
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.status = 'failed';
    }
  }

  async #layout(id: string): Promise<Layout> {
    const params = { path: { layout_id: id } };
    return (await answer(this.#api.GET('/api/layouts/{layout_id}', { params }))).data;
  }

  async #diff(): Promise<LayoutDiff> {
    const params = { path: { layout_id: this.#beforeId, other_id: this.#afterId } };
    const path = '/api/layouts/{layout_id}/diff/{other_id}';
    return (await answer(this.#api.GET(path, { params }))).data;
  }
}
