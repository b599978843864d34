import { answer, type Api } from '@voelgoed/api';
import { Creation } from '../forms/creation.svelte.ts';

/** Declaring the venue empty: a reason, sent with a key by which the server knows it again. */
export class Emptying {
  /** Nobody gave a reason. */
  isMissing = $state(false);
  readonly #creation: Creation<void, { reason: string }>;

  constructor(api: Api, eventId: string) {
    this.#creation = new Creation(
      () => ({ reason: '' }),
      async ({ reason }, key) => {
        const params = { path: { event_id: eventId }, header: { 'Idempotency-Key': key } };
        const path = '/api/scanning/events/{event_id}/occupancy/resets';
        await answer(api.POST(path, { params, body: { reason: reason.trim() } }));
      },
    );
  }

  get fields() {
    return this.#creation.fields;
  }

  get form() {
    return this.#creation.form;
  }

  /** Whether the venue counts as empty now. */
  async declare(): Promise<boolean> {
    this.isMissing = this.fields.reason.trim() === '';
    return !this.isMissing && (await this.form.submit(this.#creation.create));
  }

  clear(): void {
    this.isMissing = false;
    this.#creation.clear();
  }
}
