import { answer, type Api, type Session } from '@voelgoed/api';

/** Who people are, as far as somebody may know: each is asked for once, and whoever is unknown stays so. */
export class Names {
  #known = $state.raw<ReadonlyMap<string, string>>(new Map());
  readonly #asked = new Set<string>();
  readonly #api: Api;
  readonly #mayRead: boolean;

  constructor(api: Api, self: Session['user'] | undefined, mayRead: boolean) {
    this.#api = api;
    this.#mayRead = mayRead;
    if (!self) return;
    this.#known = new Map([[self.id, self.name]]);
    this.#asked.add(self.id);
  }

  of(id: string | null): string | undefined {
    return id === null ? undefined : this.#known.get(id);
  }

  async learn(ids: readonly (string | null)[]): Promise<void> {
    if (!this.#mayRead) return;
    const unknown = ids.filter((id) => id !== null && !this.#asked.has(id)) as string[];
    await Promise.all([...new Set(unknown)].map((id) => this.#ask(id)));
  }

  async #ask(id: string): Promise<void> {
    this.#asked.add(id);
    try {
      const params = { path: { user_id: id } };
      const { data } = await answer(this.#api.GET('/api/users/{user_id}', { params }));
      this.#known = new Map([...this.#known, [id, data.name]]);
    } catch {
      // A name is a kindness; what the page is for works without it.
    }
  }
}
