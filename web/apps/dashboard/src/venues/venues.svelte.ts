import { answer, type Api, type Venue } from '@voelgoed/api';
import { FormState, Listing } from '@voelgoed/ui';
import { Creation } from '../forms/creation.svelte.ts';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled, only } from '../forms/filled.ts';

const PAGE_LIMIT = 50;

export interface VenueFields {
  name: string;
  address: string;
  timezone: string;
}

/** Where events take place. */
export class Venues {
  readonly list: Listing<Venue>;
  readonly creation: Creation<Venue, VenueFields>;
  /** What became of the last deletion. */
  readonly deleting = new FormState();
  readonly #api: Api;

  /** A new venue is supposed to be where whoever adds it is. */
  constructor(api: Api, timezone: string) {
    this.#api = api;
    this.list = new Listing((after) => {
      const query = { limit: PAGE_LIMIT, ...(after && { after }) };
      return answer(api.GET('/api/venues', { params: { query } }));
    });
    this.creation = new Creation<Venue, VenueFields>(
      () => ({ name: '', address: '', timezone }),
      async (fields, key) => {
        const params = { header: { 'Idempotency-Key': key } };
        const { data } = await answer(api.POST('/api/venues', { params, body: bodyOf(fields) }));
        await this.list.load();
        return data;
      },
    );
  }

  edited(venue: Venue): Edited<Venue, VenueFields> {
    const params = { path: { venue_id: venue.id } };
    const path = '/api/venues/{venue_id}';
    return new Edited<Venue, VenueFields>(
      {
        read: async () => (await answer(this.#api.GET(path, { params }))).data,
        fieldsOf: ({ name, address, timezone }) => ({ name, address, timezone }),
        send: async (fields, changed, { version }) => {
          const body = { version, ...only(bodyOf(fields), changed) };
          const { data } = await answer(this.#api.PATCH(path, { params, body }));
          await this.list.load();
          return data;
        },
      },
      venue,
    );
  }

  delete({ id }: Venue): Promise<boolean> {
    const params = { path: { venue_id: id } };
    return this.deleting.submit(async () => {
      await answer(this.#api.DELETE('/api/venues/{venue_id}', { params }));
      await this.list.load();
    });
  }
}

function bodyOf({ name, address, timezone }: VenueFields): VenueFields {
  const filled = new Filled();
  const body = { name: filled.text('name', name), address: address.trim(), timezone };
  filled.refuseFaults();
  return body;
}

/** Every zone that the browser knows, and the one that is chosen, which an old browser may not. */
export function timeZones(chosen: string): string[] {
  return [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', chosen])].sort();
}
