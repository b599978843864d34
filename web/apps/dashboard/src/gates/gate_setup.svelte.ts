import { answer, type Api, type EventZone, type Gate } from '@voelgoed/api';
import { FormState, Listing } from '@voelgoed/ui';
import { readZones } from '../arrange/zones.ts';
import { Creation } from '../forms/creation.svelte.ts';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled, only } from '../forms/filled.ts';

export interface GateFields {
  name: string;
  /** Null lets everybody in here, whatever zone they go to. */
  allowed_zones: string[] | null;
  capacity: string;
  hard_capacity_limit: string;
}

export type NewGateFields = GateFields & { code: string };

/** The gates of one event, as they are set up; opening and closing them is another matter. */
export class GateSetup {
  readonly list: Listing<Gate>;
  readonly zones: Listing<EventZone>;
  readonly creation: Creation<Gate, NewGateFields>;
  /** What became of the last deletion. */
  readonly deleting = new FormState();
  readonly #api: Api;
  readonly #eventId: string;

  constructor(api: Api, eventId: string) {
    this.#api = api;
    this.#eventId = eventId;
    const path = { event_id: eventId };
    this.list = new Listing(async () => {
      const { data } = await answer(api.GET('/api/events/{event_id}/gates', { params: { path } }));
      return { data, next: null };
    });
    this.zones = new Listing(async () => ({ data: await readZones(api, eventId), next: null }));
    this.creation = new Creation<Gate, NewGateFields>(
      () => ({ name: '', code: '', allowed_zones: null, capacity: '', hard_capacity_limit: '' }),
      async ({ code, ...fields }, key) => {
        const filled = new Filled();
        const typed = { code: filled.text('code', code), ...bodyOf(fields, filled) };
        const body = { ...typed, status: 'closed' as const };
        const params = { path, header: { 'Idempotency-Key': key } };
        const { data } = await answer(api.POST('/api/events/{event_id}/gates', { params, body }));
        await this.list.load();
        return data;
      },
    );
  }

  edited(gate: Gate): Edited<Gate, GateFields> {
    const params = { path: { event_id: this.#eventId, gate_id: gate.id } };
    const path = '/api/events/{event_id}/gates/{gate_id}';
    return new Edited<Gate, GateFields>(
      {
        read: async () => (await answer(this.#api.GET(path, { params }))).data,
        fieldsOf,
        send: async (fields, changed, { version }) => {
          const body = { version, ...only(bodyOf(fields), changed) };
          const { data } = await answer(this.#api.PATCH(path, { params, body }));
          await this.list.load();
          return data;
        },
      },
      gate,
    );
  }

  delete({ id }: Gate): Promise<boolean> {
    const params = { path: { event_id: this.#eventId, gate_id: id } };
    return this.deleting.submit(async () => {
      await answer(this.#api.DELETE('/api/events/{event_id}/gates/{gate_id}', { params }));
      await this.list.load();
    });
  }
}

function fieldsOf(gate: Gate): GateFields {
  return {
    name: gate.name,
    allowed_zones: gate.allowed_zones,
    capacity: String(gate.capacity ?? ''),
    hard_capacity_limit: String(gate.hard_capacity_limit ?? ''),
  };
}

function bodyOf(fields: GateFields, filled = new Filled()) {
  const body = {
    name: filled.text('name', fields.name),
    allowed_zones: fields.allowed_zones,
    capacity: filled.wholeOrNone('capacity', fields.capacity),
    hard_capacity_limit: filled.wholeOrNone('hard_capacity_limit', fields.hard_capacity_limit),
  };
  filled.refuseFaults();
  return body;
}
