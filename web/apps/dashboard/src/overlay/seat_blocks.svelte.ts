import { answer, ApiError, type Api } from '@voelgoed/api';
import { BLOCKED, rowOf, type SeatCode, type SeatPlan, type SeatStates } from '@voelgoed/seat-map';

/** What the server changes at once. */
const SEATS_MAX = 5_000;

/** What a click on a seat means. */
export type Choosing = 'seat' | 'row' | 'frame';

interface House {
  plan: SeatPlan | undefined;
  states: SeatStates | undefined;
}

/** Seats that somebody chose, to be taken out of sale or put back. */
export class SeatBlocks {
  choosing = $state<Choosing>('seat');
  selected = $state.raw<ReadonlySet<number>>(new Set());
  isBusy = $state(false);
  /** Why the last change was refused; stays until the next one. */
  refusal = $state.raw<ApiError | undefined>();
  /** Seats that are held or sold: blocking them must be said explicitly. */
  taken = $state.raw<string[]>([]);
  /** How many were changed last. */
  changed = $state.raw<{ count: number; to: 'blocked' | 'lifted' } | undefined>();

  readonly #api: Api;
  readonly #eventId: string;
  readonly #house: House;

  constructor(api: Api, eventId: string, house: House) {
    this.#api = api;
    this.#eventId = eventId;
    this.#house = house;
  }

  /** The seats of the plan as it is now; a new layout may have fewer. */
  get seatIds(): string[] {
    const { plan } = this.#house;
    const positions = [...this.selected].toSorted((one, other) => one - other);
    return positions.flatMap((position) => plan?.seats.ids[position] ?? []);
  }

  toggle(position: number): void {
    const { plan } = this.#house;
    if (this.choosing === 'row' && plan) this.toggleAll(rowOf(plan, position));
    else this.toggleAll([position]);
  }

  /** All of them, or none if all of them are chosen already. */
  toggleAll(positions: readonly number[]): void {
    const all = positions.every((position) => this.selected.has(position));
    const selected = new Set(this.selected);
    for (const position of positions) {
      if (all) selected.delete(position);
      else selected.add(position);
    }
    this.#select(selected);
  }

  clear(): void {
    this.#select(new Set());
  }

  /** How many of the chosen seats are in each state. */
  counts(): Map<SeatCode, number> {
    const counts = new Map<SeatCode, number>();
    for (const position of this.selected) {
      const code = this.#house.states?.codeAt(position) ?? BLOCKED;
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    return counts;
  }

  /** Seats that are held or sold are blocked only if that is said. */
  block(reason: string, includingTaken = false): Promise<boolean> {
    return this.#change('blocked', async (seatIds) => {
      const body = { seat_ids: seatIds, reason, including_taken: includingTaken };
      const path = '/api/events/{event_id}/seat-blocks';
      return (await answer(this.#api.POST(path, { ...this.#params, body }))).data.changed.length;
    });
  }

  unblock(reason: string): Promise<boolean> {
    return this.#change('lifted', async (seatIds) => {
      const path = '/api/events/{event_id}/seat-blocks/lifted';
      const body = { seat_ids: seatIds, reason };
      return (await answer(this.#api.POST(path, { ...this.#params, body }))).data.changed.length;
    });
  }

  get #params() {
    return { params: { path: { event_id: this.#eventId } } };
  }

  #select(selected: ReadonlySet<number>): void {
    this.selected = selected;
    this.taken = [];
    this.refusal = this.changed = undefined;
  }

  async #change(
    to: 'blocked' | 'lifted',
    send: (seatIds: string[]) => Promise<number>,
  ): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.refusal = this.changed = undefined;
    this.taken = [];
    try {
      const { seatIds } = this;
      let count = 0;
      for (let at = 0; at < seatIds.length; at += SEATS_MAX) {
        count += await send(seatIds.slice(at, at + SEATS_MAX));
      }
      this.clear();
      this.changed = { count, to };
      return true;
    } catch (thrown) {
      const error = ApiError.from(thrown);
      const named = error.details.seat_ids;
      if (error.code === 'seat_taken' && Array.isArray(named)) this.taken = named.map(String);
      else this.refusal = error;
      return false;
    } finally {
      this.isBusy = false;
    }
  }
}
