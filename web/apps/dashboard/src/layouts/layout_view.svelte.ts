import { answer, ApiError, readLayouts, type Api, type Layout } from '@voelgoed/api';
import { readPlan, SeatStates, type SeatPlan } from '@voelgoed/seat-map';

/** One version of a layout to look at: everything free, and which other versions there are. */
export class LayoutView {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  layout = $state.raw<Layout | undefined>();
  plan = $state.raw<SeatPlan | undefined>();
  states = $state.raw<SeatStates | undefined>();
  /** The newest first, this one among them. */
  versions = $state.raw<Layout[]>([]);
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;
  readonly #id: string;

  constructor(api: Api, id: string) {
    this.#api = api;
    this.#id = id;
  }

  async load(): Promise<void> {
    this.status = 'loading';
    this.problem = undefined;
    const params = { path: { layout_id: this.#id } };
    try {
      const [layout, config] = await Promise.all([
        answer(this.#api.GET('/api/layouts/{layout_id}', { params })),
        readConfig(this.#api, this.#id),
      ]);
      const all = await readLayouts(this.#api, layout.data.venue_id);
      this.layout = layout.data;
      this.plan = readPlan(config);
      this.states = new SeatStates(new Uint8Array(this.plan.seats.ids.length), 0);
      this.versions = all
        .filter(({ lineage_id: id }) => id === layout.data.lineage_id)
        .toSorted((one, other) => other.version - one.version);
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.status = 'failed';
    }
  }
}

export function readConfig(api: Api, layoutId: string): Promise<unknown> {
  const params = { path: { layout_id: layoutId } };
  return answer(api.GET('/api/layouts/{layout_id}/config', { params }));
}
