import { answer, type Api, type Whitelist, type WhitelistEntry } from '@voelgoed/api';
import { FormState, Listing } from '@voelgoed/ui';
import { Creation } from '../forms/creation.svelte.ts';
import { Filled } from '../forms/filled.ts';

const PAGE_LIMIT = 50;

/** The lists of those who are let in where others are not. */
export class Whitelists {
  readonly list: Listing<Whitelist>;
  readonly creation: Creation<Whitelist, { name: string }>;
  /** What became of the last deletion. */
  readonly deleting = new FormState();
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
    this.list = new Listing((after) => {
      const query = { limit: PAGE_LIMIT, ...(after && { after }) };
      return answer(api.GET('/api/whitelists', { params: { query } }));
    });
    this.creation = new Creation<Whitelist, { name: string }>(
      () => ({ name: '' }),
      async ({ name }, key) => {
        const filled = new Filled();
        const body = { name: filled.text('name', name) };
        filled.refuseFaults();
        const params = { header: { 'Idempotency-Key': key } };
        const { data } = await answer(api.POST('/api/whitelists', { params, body }));
        await this.list.load();
        return data;
      },
    );
  }

  delete({ id }: Whitelist): Promise<boolean> {
    const params = { path: { whitelist_id: id } };
    return this.deleting.submit(async () => {
      await answer(this.#api.DELETE('/api/whitelists/{whitelist_id}', { params }));
      await this.list.load();
    });
  }

  entriesOf({ id }: Whitelist): Entries {
    return new Entries(this.#api, id);
  }
}

/** The addresses on one whitelist. */
export class Entries {
  readonly list: Listing<WhitelistEntry>;
  readonly adding: Creation<void, { email: string; note: string }>;
  /** What became of the last removal. */
  readonly removing = new FormState();
  readonly #api: Api;
  readonly #id: string;

  constructor(api: Api, id: string) {
    this.#api = api;
    this.#id = id;
    const path = { whitelist_id: id };
    this.list = new Listing((after) => {
      const query = { limit: PAGE_LIMIT, ...(after && { after }) };
      const params = { path, query };
      return answer(api.GET('/api/whitelists/{whitelist_id}/entries', { params }));
    });
    this.adding = new Creation(
      () => ({ email: '', note: '' }),
      async ({ email, note }) => {
        const filled = new Filled();
        const body = { email: filled.text('email', email), note: note.trim() };
        filled.refuseFaults();
        const params = { path };
        await answer(api.POST('/api/whitelists/{whitelist_id}/entries', { params, body }));
        await this.list.load();
      },
    );
  }

  remove({ email }: WhitelistEntry): Promise<boolean> {
    const params = { path: { whitelist_id: this.#id }, query: { email } };
    return this.removing.submit(async () => {
      await answer(this.#api.DELETE('/api/whitelists/{whitelist_id}/entries', { params }));
      await this.list.load();
    });
  }
}
