import { answer, ApiError, type Api } from '@voelgoed/api';
import { canChoose, CATEGORIES } from '@voelgoed/seat-map';
import type { House } from './house.svelte.ts';
import type { Proposal, SelectionCheck } from './types.ts';

const CHECK_AFTER_MS = 250;
const WHEELCHAIR = CATEGORIES.indexOf('wheelchair');

export interface BestWish {
  party: number;
  zoneId: string | null;
  /** Zones of one price; null for any. */
  zoneIds: string[] | null;
  wheelchairs: number;
}

/** What could be had instead of what cannot. */
export interface Instead {
  kind: 'fewer' | 'split' | 'elsewhere';
  ids: string[];
}

/** The seats somebody would like to have, and what the server would say to it. */
export class Choice {
  selected = $state.raw<ReadonlySet<number>>(new Set());
  check = $state.raw<SelectionCheck | undefined>();
  isChecking = $state(false);
  problem = $state.raw<ApiError | undefined>();
  /** Names of seats that somebody else took meanwhile. */
  lost = $state.raw<string[]>([]);
  /** A seat that was clicked and cannot be had. */
  refused = $state.raw<number | undefined>();
  found = $state.raw<Proposal | undefined>();
  instead = $state.raw<Instead[]>([]);
  isSearching = $state(false);
  /** Addresses of who comes along, as they were typed. */
  guests = $state('');

  readonly #api: Api;
  readonly #house: House;
  readonly #eventId: string;
  readonly #staff: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(api: Api, house: House, eventId: string, staff: boolean) {
    this.#api = api;
    this.#house = house;
    this.#eventId = eventId;
    this.#staff = staff;
  }

  get ids(): string[] {
    return [...this.selected].map((position) => this.#house.plan!.seats.ids[position]!);
  }

  /** In a zone that is not open to everybody, whoever comes along is named. */
  get needsGuests(): boolean {
    const { zones, seats } = this.#house.plan!;
    const behindDoors = [...this.selected].filter(
      (position) => zones[seats.zone[position]!]!.access !== 'public',
    );
    return behindDoors.length > 1;
  }

  toggle(position: number): void {
    const next = new Set(this.selected);
    this.refused = undefined;
    if (!next.delete(position)) {
      if (!this.#isFree(position)) {
        this.refused = position;
        return;
      }
      next.add(position);
    }
    this.lost = [];
    this.#select(next);
  }

  /** Exactly these. */
  take(ids: readonly string[]): void {
    const positions = ids.flatMap((id) => this.#house.positions.get(id) ?? []);
    this.lost = [];
    this.instead = [];
    this.#select(new Set(positions));
  }

  clear(): void {
    this.found = undefined;
    this.take([]);
  }

  /** The companion seats of the wheelchair places that were chosen, and are still to be had. */
  get companions(): number[] {
    const { category, partner } = this.#house.plan!.seats;
    return [...this.selected].flatMap((position) => {
      const beside = partner[position]!;
      const isOffered = category[position] === WHEELCHAIR && beside >= 0;
      return isOffered && !this.selected.has(beside) && this.#isFree(beside) ? [beside] : [];
    });
  }

  /** After the states have changed: what somebody else has now is not ours to choose. */
  dropTaken(): void {
    const taken = [...this.selected].filter((position) => !this.#isFree(position));
    if (taken.length === 0) return;
    const { ids } = this.#house.plan!.seats;
    this.lost = [...this.lost, ...taken.map((position) => ids[position]!)];
    this.#select(new Set([...this.selected].filter((position) => !taken.includes(position))));
  }

  async findBest({ party, zoneId, zoneIds, wheelchairs }: BestWish): Promise<void> {
    this.isSearching = true;
    this.problem = this.found = undefined;
    this.instead = [];
    const wanted = zoneId ? [zoneId] : zoneIds;
    try {
      const body = {
        party,
        wheelchair_places: wheelchairs,
        apart: false,
        ...(wanted && { zone_ids: wanted }),
      };
      const params = { path: { event_id: this.#eventId } };
      const call = this.#api.POST('/api/events/{event_id}/best-available', { params, body });
      const { data } = await answer(call);
      this.take(data.seats.map(({ seat_id: id }) => id));
      this.found = data;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.instead = insteadOf(this.problem.details);
    } finally {
      this.isSearching = false;
    }
  }

  #isFree(position: number): boolean {
    const { states } = this.#house;
    return states !== undefined && canChoose(states, position, this.#staff);
  }

  #select(positions: ReadonlySet<number>): void {
    this.selected = positions;
    this.check = this.problem = this.found = undefined;
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.isChecking = positions.size > 0;
    if (positions.size > 0) this.#timer = setTimeout(() => this.#ask(this.#asked), CHECK_AFTER_MS);
  }

  async #ask(asked: number): Promise<void> {
    const params = { path: { event_id: this.#eventId } };
    const body = { seat_ids: this.ids };
    try {
      const call = this.#api.POST('/api/events/{event_id}/selection-checks', { params, body });
      const { data } = await answer(call);
      if (asked === this.#asked) this.check = data;
    } catch (thrown) {
      if (asked === this.#asked) this.problem = ApiError.from(thrown);
    } finally {
      if (asked === this.#asked) this.isChecking = false;
    }
  }
}

/** However they are typed: with commas, semicolons or blanks between. */
export function addresses(text: string): string[] {
  return text.split(/[\s,;]+/).filter(Boolean);
}

function insteadOf(details: Record<string, unknown>): Instead[] {
  const {
    together,
    apart,
    in_other_zones: elsewhere,
  } = details as {
    together?: string[];
    apart?: Proposal | null;
    in_other_zones?: Proposal | null;
  };
  const ids = ({ seats }: Proposal) => seats.map(({ seat_id: id }) => id);
  return [
    ...(together?.length ? [{ kind: 'fewer' as const, ids: together }] : []),
    ...(apart ? [{ kind: 'split' as const, ids: ids(apart) }] : []),
    ...(elsewhere ? [{ kind: 'elsewhere' as const, ids: ids(elsewhere) }] : []),
  ];
}
