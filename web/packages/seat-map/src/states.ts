/** What a seat is for whoever looks at the map. The numbers are the API's. */
export const AVAILABLE = 0;
export const HELD = 1;
export const SOLD = 2;
export const BLOCKED = 3;
/** Waits for the companion of a wheelchair user. */
export const FOR_COMPANION = 4;
/** Sold by the box office only. */
export const BY_STAFF = 5;

export type SeatCode = 0 | 1 | 2 | 3 | 4 | 5;
export type SeatChange = readonly [position: number, code: number];

const CODE_COUNT = 6;

export interface SeatMapJson {
  seat_count: number;
  /** Base64 of four bits for each seat, the first of two in the low ones. */
  seats: string;
  seq: number;
}

/** Hears which seats are different now. */
export type StatesListener = (positions: readonly number[]) => void;

/** The state of every seat of an event, kept up to date by numbered changes. */
export class SeatStates {
  readonly #codes: Uint8Array;
  readonly #counts = new Uint32Array(CODE_COUNT);
  readonly #listeners = new Set<StatesListener>();
  #seq: number;

  constructor(codes: Uint8Array, seq: number) {
    this.#codes = codes;
    this.#seq = seq;
    for (const code of codes) this.#counts[code]! += 1;
  }

  /** Of `GET /api/events/{id}/seats`. */
  static fromMap({ seats, seat_count: count, seq }: SeatMapJson): SeatStates {
    const packed = atob(seats);
    const codes = new Uint8Array(count);
    for (let position = 0; position < count; position++) {
      const pair = packed.charCodeAt(position >> 1);
      codes[position] = position & 1 ? pair >> 4 : pair & 15;
    }
    return new SeatStates(codes, seq);
  }

  get length(): number {
    return this.#codes.length;
  }

  get seq(): number {
    return this.#seq;
  }

  /** How many seats there are of each code. */
  get counts(): Readonly<Uint32Array> {
    return this.#counts;
  }

  codeAt(position: number): SeatCode {
    return (this.#codes[position] ?? BLOCKED) as SeatCode;
  }

  /** What was told before the map was read is in the map; after a gap the map must be read again. */
  apply(changes: readonly SeatChange[], seq: number): 'applied' | 'gap' {
    if (seq <= this.#seq) return 'applied';
    if (seq > this.#seq + 1) return 'gap';
    this.#seq = seq;
    const changed: number[] = [];
    for (const [position, code] of changes) {
      const before = this.#codes[position];
      if (before === undefined || before === code || code >= CODE_COUNT) continue;
      this.#codes[position] = code;
      this.#counts[before]! -= 1;
      this.#counts[code]! += 1;
      changed.push(position);
    }
    if (changed.length > 0) for (const listener of [...this.#listeners]) listener(changed);
    return 'applied';
  }

  /** Returns the function that ends it. */
  listen(listener: StatesListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
