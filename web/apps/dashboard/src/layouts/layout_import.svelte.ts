import { answer, ApiError, PATIENTLY, type Api, type Layout } from '@voelgoed/api';
import { SeatStates, type MapMark, type SeatPlan } from '@voelgoed/seat-map';
import { drawable, type Place } from './drawable.ts';
import { findingsOf, type Finding, type GivenFault } from './findings.ts';
import { jsonFault, type TextPlace } from './json_fault.ts';
import { formOf, LAYOUT_BYTES_MAX, readUtf8, type LayoutForm } from './source.ts';

/** Where the layout goes: to a venue as a new one, or to another layout as its next version. */
export type Destination = { venueId: string } | { versionOf: string };

export interface LayoutNames {
  name: string;
  description: string;
}

/** What was found in a layout that was brought. Without findings it can be stored. */
export interface Checked {
  form: LayoutForm;
  findings: Finding[];
  marks: MapMark[];
  plan: SeatPlan;
  states: SeatStates;
}

/** Why a file was not even looked at. */
export type Unreadable = 'nothing' | 'too_large' | 'not_utf8';

/** A layout on its way in: read, checked with all its faults at once, and stored when it has none. */
export class LayoutImport {
  file = $state.raw<File | undefined>();
  pasted = $state('');
  isBusy = $state(false);
  problem = $state.raw<ApiError | undefined>();
  unreadable = $state<Unreadable | undefined>();
  syntax = $state.raw<TextPlace | undefined>();
  checked = $state.raw<Checked | undefined>();
  stored = $state.raw<Layout | undefined>();

  readonly #api: Api;
  readonly #destination: Destination;
  readonly #nameOf: (numbers: readonly number[], places: readonly Place[]) => string;
  /** Checked and without faults. */
  #config: Record<string, unknown> | undefined;
  /** What is stored under one key is stored once, however often it is sent. */
  #keys = new Map<string, string>();

  constructor(
    api: Api,
    destination: Destination,
    nameOf: (numbers: readonly number[], places: readonly Place[]) => string,
  ) {
    this.#api = api;
    this.#destination = destination;
    this.#nameOf = nameOf;
  }

  get isSound(): boolean {
    return this.checked?.findings.length === 0;
  }

  /** Something else is to be looked at: what was found before means nothing. */
  forget(): void {
    this.problem = this.unreadable = this.syntax = this.checked = this.stored = undefined;
    this.#config = undefined;
    this.#keys = new Map();
  }

  async check(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.forget();
    try {
      const text = await this.#text();
      if (text !== undefined) await this.#look(text, formOf(this.file?.name ?? '', text));
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
    } finally {
      this.isBusy = false;
    }
  }

  /** Throws why it was refused. */
  async store({ name, description }: LayoutNames, status: 'draft' | 'active'): Promise<Layout> {
    const body = { name: name.trim(), description, status, config: this.#config ?? {} };
    const headers = {
      ...PATIENTLY,
      'Idempotency-Key': this.#keyOf([body.name, description, status]),
    };
    const { data } = await answer(
      'venueId' in this.#destination
        ? this.#api.POST('/api/venues/{venue_id}/layouts', {
            params: { path: { venue_id: this.#destination.venueId } },
            body,
            headers,
          })
        : this.#api.POST('/api/layouts/{layout_id}/versions', {
            params: { path: { layout_id: this.#destination.versionOf } },
            body,
            headers,
          }),
    );
    this.stored = data;
    return data;
  }

  async #text(): Promise<string | undefined> {
    const { file, pasted } = this;
    const size = file ? file.size : pasted.length;
    if (size === 0) this.unreadable = 'nothing';
    else if (size > LAYOUT_BYTES_MAX) this.unreadable = 'too_large';
    if (this.unreadable) return undefined;
    const text = file ? await readUtf8(file) : pasted;
    if (text === undefined) this.unreadable = 'not_utf8';
    return text;
  }

  async #look(text: string, form: LayoutForm): Promise<void> {
    if (form !== 'json') {
      const body = { form, text };
      const { data } = await answer(
        this.#api.POST('/api/layout-readings', { body, headers: PATIENTLY }),
      );
      return this.#found(form, data.config, data.faults);
    }
    this.syntax = jsonFault(text);
    if (this.syntax) return;
    const config: unknown = JSON.parse(text);
    if (typeof config !== 'object' || config === null || Array.isArray(config)) {
      return this.#found(form, {}, [{ path: '$', message: 'must be an object' }]);
    }
    const body = { config: config as Record<string, unknown> };
    const { data } = await answer(
      this.#api.POST('/api/layout-checks', { body, headers: PATIENTLY }),
    );
    this.#found(form, body.config, data);
  }

  #found(form: LayoutForm, config: Record<string, unknown>, faults: readonly GivenFault[]): void {
    const drawing = drawable(config);
    const { list, marks } = findingsOf(faults, drawing, this.#nameOf);
    const states = new SeatStates(new Uint8Array(drawing.plan.seats.ids.length), 0);
    this.checked = { form, findings: list, marks, plan: drawing.plan, states };
    if (list.length === 0) this.#config = config;
  }

  #keyOf(what: readonly string[]): string {
    const named = JSON.stringify(what);
    const key = this.#keys.get(named) ?? crypto.randomUUID();
    this.#keys.set(named, key);
    return key;
  }
}
