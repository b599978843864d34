import { FormState } from '@voelgoed/ui';

const KEY_BYTES = 16;

/** Something new: filled in, and sent with a key by which the server knows it when it comes again. */
export class Creation<T, F extends object> {
  fields = $state({} as F);
  readonly form = new FormState();
  readonly #blank: () => F;
  readonly #send: (fields: F, key: string) => Promise<T>;
  #key = '';
  #sent = '';

  constructor(blank: () => F, send: (fields: F, key: string) => Promise<T>) {
    this.#blank = blank;
    this.#send = send;
    this.fields = blank();
  }

  /** Throws what a form shows. What was taken is no longer in the fields. */
  create = async (): Promise<T> => {
    const fields = $state.snapshot(this.fields) as F;
    const made = await this.#send(fields, this.#keyOf(JSON.stringify(fields)));
    this.clear();
    return made;
  };

  clear(): void {
    this.fields = this.#blank();
    this.#sent = '';
    this.form.clear();
  }

  /** The same while the same is sent: an answer that was lost is asked for again. */
  #keyOf(sent: string): string {
    if (sent !== this.#sent) {
      this.#sent = sent;
      this.#key = randomKey();
    }
    return this.#key;
  }
}

/** Not `randomUUID`, which browsers have on safe connections only; a venue's network may be none. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
