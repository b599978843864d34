import { answer, ApiError, type Api } from '@voelgoed/api';
import { secondsUntil, WARNING_SECONDS } from './countdown.ts';
import type { Hold } from './types.ts';

const TICK_MS = 250;

export interface PlacesWish {
  zoneId: string;
  count: number;
  /** Null for every day of the event. */
  days: string[] | null;
  guests: string[];
}

/** What somebody holds at an event, and for how long. The server's time counts, not this clock. */
export class Cart {
  holds = $state.raw<Hold[]>([]);
  secondsLeft = $state(0);
  hasExpired = $state(false);
  isBusy = $state(false);
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;
  readonly #eventId: string;
  readonly #now: () => number;
  #endsAt = 0;
  #ticking: ReturnType<typeof setInterval> | undefined;

  /** `now` runs evenly, whatever somebody does to the clock on the wall. */
  constructor(api: Api, eventId: string, now: () => number = () => performance.now()) {
    this.#api = api;
    this.#eventId = eventId;
    this.#now = now;
  }

  get isEndingSoon(): boolean {
    return this.holds.length > 0 && this.secondsLeft <= WARNING_SECONDS;
  }

  get canExtend(): boolean {
    return this.holds.some(({ can_extend: can }) => can);
  }

  /** On opening, in another tab, or after a sleep: what is held is what the server says. */
  async load(): Promise<void> {
    this.#set(await this.#read());
  }

  /** `guests` come along, in zones that are not open to everybody. */
  holdSeats(seatIds: string[], guests: string[]): Promise<boolean> {
    return this.#hold(seatIds, [], guests);
  }

  holdPlaces({ zoneId, count, days, guests }: PlacesWish): Promise<boolean> {
    return this.#hold([], [{ zone_id: zoneId, count, days }], guests);
  }

  releaseAll(): Promise<boolean> {
    return this.#release(this.holds);
  }

  release(hold: Hold): Promise<boolean> {
    return this.#release([hold]);
  }

  /** Everything that can be, once. */
  extend(): Promise<boolean> {
    const first = new Map(this.holds.map((hold) => [hold.booking_id, hold]));
    return this.#work(async () => {
      for (const { hold_id, can_extend: can } of first.values()) {
        const params = { path: { hold_id } };
        if (can) await answer(this.#api.POST('/api/holds/{hold_id}/extension', { params }));
      }
    });
  }

  /** The order has them now. */
  empty(): void {
    this.#set([]);
  }

  stop(): void {
    clearInterval(this.#ticking);
  }

  #hold(
    seatIds: string[],
    places: { zone_id: string; count: number; days: string[] | null }[],
    guests: string[],
  ): Promise<boolean> {
    const params = { path: { event_id: this.#eventId } };
    const body = {
      seat_ids: seatIds,
      places,
      guests,
      source: 'web' as const,
      notes: '',
    };
    return this.#work(async () => {
      await answer(this.#api.POST('/api/events/{event_id}/holds', { params, body }));
      this.hasExpired = false;
    });
  }

  #release(holds: readonly Hold[]): Promise<boolean> {
    return this.#work(async () => {
      for (const { hold_id } of holds) {
        const params = { path: { hold_id } };
        await answer(this.#api.DELETE('/api/holds/{hold_id}', { params }));
      }
    });
  }

  /** Whether it was done; either way what is shown afterwards is what the server says. */
  async #work(work: () => Promise<void>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.problem = undefined;
    try {
      await work();
      await this.load();
      return true;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      await this.load().catch(() => undefined);
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  #set(holds: Hold[]): void {
    this.holds = holds;
    clearInterval(this.#ticking);
    if (holds.length === 0) return;
    const seconds = Math.min(...holds.map(({ expires_in_seconds: left }) => left));
    this.#endsAt = this.#now() + seconds * 1000;
    this.#tick();
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  #tick(): void {
    this.secondsLeft = secondsUntil(this.#endsAt, this.#now());
    if (this.secondsLeft > 0) return;
    clearInterval(this.#ticking);
    void this.#ended();
  }

  /** Another tab may have got more time, or what was held later may go on. */
  async #ended(): Promise<void> {
    const before = this.holds.length;
    const held = await this.#read().catch(() => []);
    const alive = held.filter(({ expires_in_seconds: left }) => left > 0);
    this.#set(alive);
    if (alive.length < before) this.hasExpired = true;
  }

  async #read(): Promise<Hold[]> {
    const { data } = await answer(this.#api.GET('/api/holds'));
    return data.filter(({ event_id: id }) => id === this.#eventId);
  }
}
