import { answer, readVenues, type Api, type Event, type Venue } from '@voelgoed/api';
import { FormState, Listing } from '@voelgoed/ui';
import { Creation } from '../forms/creation.svelte.ts';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled, only } from '../forms/filled.ts';
import { bodyOf, fieldsOf, NO_EVENT, type EventFields } from './event_fields.ts';
import type { Step } from './lifecycle.ts';

export type NewEventFields = EventFields & { venue_id: string };

/** An event to be, at one of the venues. */
export class NewEvent {
  readonly venues: Listing<Venue>;
  readonly creation: Creation<Event, NewEventFields>;

  constructor(api: Api) {
    this.venues = new Listing(async () => ({
      data: [...(await readVenues(api)).values()],
      next: null,
    }));
    this.creation = new Creation<Event, NewEventFields>(
      () => ({ ...NO_EVENT, venue_id: '' }),
      async ({ venue_id: venue, ...fields }, key) => {
        const filled = new Filled();
        const venue_id = filled.text('venue_id', venue);
        const body = { ...bodyOf(fields, this.timeZone, filled), venue_id };
        const params = { header: { 'Idempotency-Key': key } };
        return (await answer(api.POST('/api/events', { params, body }))).data;
      },
    );
  }

  /** Of the venue that is chosen; any will do to find what is missing until then. */
  get timeZone(): string {
    const { venue_id: chosen } = this.creation.fields;
    return this.venues.items.find(({ id }) => id === chosen)?.timezone ?? 'UTC';
  }
}

/** An event there is: its details, and its way from draft to archive. */
export class Arrangement {
  readonly edited: Edited<Event, EventFields>;
  /** What became of the last step. */
  readonly stepping = new FormState();
  readonly id: string;
  readonly #api: Api;

  constructor(api: Api, event: Event, timeZone: string) {
    this.#api = api;
    this.id = event.id;
    const params = { path: { event_id: event.id } };
    const path = '/api/events/{event_id}';
    this.edited = new Edited<Event, EventFields>(
      {
        read: async () => (await answer(api.GET(path, { params }))).data,
        fieldsOf: (current) => fieldsOf(current, timeZone),
        send: async (fields, changed, { version }) => {
          const body = { version, ...only(bodyOf(fields, timeZone), changed) };
          return (await answer(api.PATCH(path, { params, body }))).data;
        },
      },
      event,
    );
  }

  /** Whether it was done. */
  take(step: Step): Promise<boolean> {
    const params = { path: { event_id: this.id } };
    return this.stepping.submit(async () => {
      if (step === 'delete') {
        await answer(this.#api.DELETE('/api/events/{event_id}', { params }));
        return;
      }
      try {
        const path = '/api/events/{event_id}/transitions';
        await answer(this.#api.POST(path, { params, body: { to: step } }));
      } finally {
        // Also after a refusal: that somebody else moved it is why, more often than not.
        await this.edited.load();
      }
    });
  }
}
