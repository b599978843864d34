import { answer, type Api, type EventZone, type TicketType } from '@voelgoed/api';
import { FormState, Listing } from '@voelgoed/ui';
import { readZones } from '../arrange/zones.ts';
import { Creation } from '../forms/creation.svelte.ts';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled, only } from '../forms/filled.ts';
import { blankFields, bodyOf, fieldsOf, zonesOf, type TicketFields } from './ticket_fields.ts';

const CURRENCY = 'ZAR';

/** What can be sold for one event. */
export class TicketTypes {
  readonly list: Listing<TicketType>;
  readonly zones: Listing<EventZone>;
  readonly creation: Creation<TicketType, TicketFields>;
  /** What became of the last deletion, or of the last change of what is on sale. */
  readonly deed = new FormState();
  readonly #api: Api;

  constructor(api: Api, eventId: string) {
    this.#api = api;
    const path = { event_id: eventId };
    this.list = new Listing(async () => {
      const params = { path };
      const { data } = await answer(api.GET('/api/events/{event_id}/ticket-types', { params }));
      return { data, next: null };
    });
    this.zones = new Listing(async () => ({ data: await readZones(api, eventId), next: null }));
    this.creation = new Creation<TicketType, TicketFields>(
      () => this.#blank(),
      async (fields, key) => {
        const filled = new Filled();
        const currency = filled.text('currency', fields.currency).toUpperCase();
        const typed = { ...bodyOf(fields, filled), currency, kind: fields.kind };
        const body = { ...typed, status: 'on_sale' as const };
        const params = { path, header: { 'Idempotency-Key': key } };
        const url = '/api/events/{event_id}/ticket-types';
        const { data } = await answer(api.POST(url, { params, body }));
        await this.list.load();
        return data;
      },
    );
  }

  /** All ticket types of an event are in one currency; undefined while it has none. */
  get currency(): string | undefined {
    return this.list.items[0]?.currency;
  }

  edited(type: TicketType): Edited<TicketType, TicketFields> {
    const params = { path: { ticket_type_id: type.id } };
    const path = '/api/ticket-types/{ticket_type_id}';
    return new Edited<TicketType, TicketFields>(
      {
        read: async () => (await answer(this.#api.GET(path, { params }))).data,
        fieldsOf,
        send: async (fields, changed, { version }) => {
          const also = changed.has('entitlement') ? ['entry_limit'] : [];
          const change = only(bodyOf(fields), new Set([...changed, ...also]));
          const body = { version, ...change };
          const { data } = await answer(this.#api.PATCH(path, { params, body }));
          await this.list.load();
          return data;
        },
      },
      type,
    );
  }

  sell({ id, version }: TicketType, status: TicketType['status']): Promise<boolean> {
    const params = { path: { ticket_type_id: id } };
    const body = { version, status };
    return this.#do(() =>
      answer(this.#api.PATCH('/api/ticket-types/{ticket_type_id}', { params, body })),
    );
  }

  delete({ id }: TicketType): Promise<boolean> {
    const params = { path: { ticket_type_id: id } };
    return this.#do(() =>
      answer(this.#api.DELETE('/api/ticket-types/{ticket_type_id}', { params })),
    );
  }

  #do(deed: () => Promise<unknown>): Promise<boolean> {
    return this.deed.submit(async () => {
      try {
        await deed();
      } finally {
        // Also after a refusal: what somebody else did is why, more often than not.
        await this.list.load();
      }
    });
  }

  /** Most events have places or seats, not both: what there is, is offered first. */
  #blank(): TicketFields {
    const hasSeatsOnly =
      zonesOf(this.zones.items, 'ga').length === 0 && this.zones.items.length > 0;
    return blankFields(hasSeatsOnly ? 'seated' : 'ga', this.currency ?? CURRENCY);
  }
}
