import { ApiError } from '@voelgoed/api';
import { FormState } from '@voelgoed/ui';

export interface Source<T, F> {
  read: () => Promise<T>;
  /** What the fields hold of it. */
  fieldsOf: (current: T) => F;
  /** Of the fields only what `changed` names is to change. */
  send: (fields: F, changed: ReadonlySet<string>, current: T) => Promise<T>;
}

/** One thing that people change: read, typed over, sent. Who was too late sees what others did. */
export class Edited<T, F extends object> {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  current = $state.raw<T | undefined>();
  /** Empty until it was read. */
  fields = $state({} as F);
  problem = $state.raw<ApiError | undefined>();
  readonly form = new FormState();
  readonly #source: Source<T, F>;
  #read = {} as F;
  #wasSaved = $state(false);

  constructor(source: Source<T, F>, known?: T) {
    this.#source = source;
    if (known !== undefined) this.#show(known);
  }

  /** What differs from what was read. */
  get changed(): ReadonlySet<string> {
    const names = Object.keys(this.fields) as (keyof F & string)[];
    return new Set(names.filter((name) => !isSame(this.fields[name], this.#read[name])));
  }

  /** It was saved, and nobody typed since. */
  get isSaved(): boolean {
    return this.#wasSaved && this.changed.size === 0;
  }

  load = async (): Promise<void> => {
    try {
      this.#show(await this.#source.read());
      this.problem = undefined;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      if (this.status === 'loading') this.status = 'failed';
    }
  };

  /** Throws what a form shows. After a conflict, what others did is shown under what was typed. */
  save = async (): Promise<void> => {
    if (this.current === undefined) return;
    this.#wasSaved = false;
    try {
      const fields = $state.snapshot(this.fields) as F;
      const saved = await this.#source.send(fields, this.changed, this.current);
      this.fields = {} as F;
      this.#show(saved);
      this.#wasSaved = true;
    } catch (thrown) {
      if (ApiError.from(thrown).code === 'version_conflict') await this.load();
      throw thrown;
    }
  };

  #show(current: T): void {
    const fields = this.#source.fieldsOf(current);
    const typed = Object.fromEntries(
      Object.entries(this.fields).filter(([name]) => this.changed.has(name)),
    );
    this.fields = { ...fields, ...typed };
    this.#read = structuredClone(fields);
    this.current = current;
    this.status = 'ready';
  }
}

/** Fields hold texts, ticks, and lists or records of them. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
