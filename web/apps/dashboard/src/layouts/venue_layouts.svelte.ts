import {
  answer,
  ApiError,
  coalesced,
  readLayouts,
  type Api,
  type Layout,
  type Venue,
} from '@voelgoed/api';

/** All versions of one layout, the newest first. */
export interface Lineage {
  id: string;
  name: string;
  versions: Layout[];
}

/** The newest version names the layout; layouts by their names. */
export function lineagesOf(layouts: readonly Layout[]): Lineage[] {
  const lineages = new Map<string, Layout[]>();
  for (const layout of layouts) {
    const known = lineages.get(layout.lineage_id) ?? [];
    lineages.set(layout.lineage_id, [...known, layout]);
  }
  return [...lineages]
    .map(([id, given]) => {
      const versions = given.toSorted((one, other) => other.version - one.version);
      return { id, name: versions[0]!.name, versions };
    })
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

/** A venue and its layouts: which versions there are, and which can be used. */
export class VenueLayouts {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  venue = $state.raw<Venue | undefined>();
  lineages = $state.raw<Lineage[]>([]);
  problem = $state.raw<ApiError | undefined>();
  /** Why the last change was refused; stays until the next one. */
  refusal = $state.raw<ApiError | undefined>();
  isBusy = $state(false);
  readonly load: () => Promise<void>;

  readonly #api: Api;
  readonly #venueId: string;

  constructor(api: Api, venueId: string) {
    this.#api = api;
    this.#venueId = venueId;
    this.load = coalesced(() => this.#load());
  }

  move({ id }: Layout, to: 'active' | 'archived'): Promise<boolean> {
    const params = { path: { layout_id: id } };
    const path = '/api/layouts/{layout_id}/transitions';
    return this.#change(() => answer(this.#api.POST(path, { params, body: { to } })));
  }

  remove({ id }: Layout): Promise<boolean> {
    const params = { path: { layout_id: id } };
    return this.#change(() => answer(this.#api.DELETE('/api/layouts/{layout_id}', { params })));
  }

  async #change(change: () => Promise<unknown>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.refusal = undefined;
    try {
      await change();
      return true;
    } catch (thrown) {
      this.refusal = ApiError.from(thrown);
      return false;
    } finally {
      // Also after a refusal: what somebody else did is why, more often than not.
      await this.load();
      this.isBusy = false;
    }
  }

  async #load(): Promise<void> {
    const params = { path: { venue_id: this.#venueId } };
    try {
      const [venue, layouts] = await Promise.all([
        answer(this.#api.GET('/api/venues/{venue_id}', { params })),
        readLayouts(this.#api, this.#venueId),
      ]);
      this.venue = venue.data;
      this.lineages = lineagesOf(layouts);
      this.problem = undefined;
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      if (this.status === 'loading') this.status = 'failed';
    }
  }
}
