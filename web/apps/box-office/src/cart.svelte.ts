import { answer, ApiError, type Api } from '@voelgoed/api';
import { EXTEND_SECONDS, secondsUntil, WARNING_SECONDS } from './countdown.ts';
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
  /** Something that was held here was given free or ordered in another window. */
  wasEndedElsewhere = $state(false);
  /** How long nothing more can be held, after too much was. */
  secondsToWait = $state(0);
  isBusy = $state(false);
  problem = $state.raw<ApiError | undefined>();

  readonly #api: Api;
  readonly #eventId: string;
  readonly #now: () => number;
  #endsAt = 0;
  /** The even clock may stand still while a device sleeps. */
  #endsAtOnTheWall = 0;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #waiting: ReturnType<typeof setInterval> | undefined;

  /** Called when what is held was changed here: other windows look again. */
  onChange: () => void = () => undefined;
  /**
   * Reads the map before a release is over. The news that a seat was held here may come after it was
   * given free, and would be taken for somebody else's.
   */
  onRelease: () => Promise<void> = async () => undefined;

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
    const isNeeded = this.secondsLeft <= EXTEND_SECONDS;
    return isNeeded && this.holds.some(({ can_extend: can }) => can);
  }

  /** On opening, in another tab, or after a sleep: what is held is what the server says. */
  async load(): Promise<void> {
    this.#set(await this.#read());
  }

  /** Something may have changed elsewhere. What ends here by itself is told by the clock. */
  async refresh(): Promise<void> {
    if (this.isBusy) return;
    const before = this.holds;
    const held = await this.#read().catch(() => undefined);
    if (!held || this.isBusy || this.holds !== before) return;
    const ids = new Set(held.map(({ hold_id: id }) => id));
    const isLess = before.some(({ hold_id: id }) => !ids.has(id));
    if (isLess && Date.now() >= this.#endsAtOnTheWall) this.hasExpired = true;
    else if (isLess && this.secondsLeft > 0) this.wasEndedElsewhere = true;
    this.#set(held);
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
    this.onChange();
  }

  stop(): void {
    clearInterval(this.#ticking);
    clearInterval(this.#waiting);
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
      this.hasExpired = this.wasEndedElsewhere = false;
    });
  }

  #release(holds: readonly Hold[]): Promise<boolean> {
    return this.#work(async () => {
      for (const { hold_id } of holds) {
        const params = { path: { hold_id } };
        await answer(this.#api.DELETE('/api/holds/{hold_id}', { params }));
      }
      await this.onRelease().catch(() => undefined);
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
      this.onChange();
      return true;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.#wait(Number(this.problem.details.retry_after_seconds ?? 0));
      await this.load().catch(() => undefined);
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  /** Counts down to when it can be tried again; then there is nothing left to say. */
  #wait(seconds: number): void {
    clearInterval(this.#waiting);
    const [refused, endsAt] = [this.problem, this.#now() + seconds * 1000];
    const tick = () => {
      this.secondsToWait = this.problem === refused ? secondsUntil(endsAt, this.#now()) : 0;
      if (this.secondsToWait > 0) return;
      clearInterval(this.#waiting);
      if (seconds > 0 && this.problem === refused) this.problem = undefined;
    };
    tick();
    if (seconds > 0) this.#waiting = setInterval(tick, TICK_MS);
  }

  #set(holds: Hold[]): void {
    this.holds = holds;
    clearInterval(this.#ticking);
    if (holds.length === 0) return;
    const seconds = Math.min(...holds.map(({ expires_in_seconds: left }) => left));
    this.#endsAt = this.#now() + seconds * 1000;
    this.#endsAtOnTheWall = Date.now() + seconds * 1000;
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
