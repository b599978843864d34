import { coalesced } from '@voelgoed/api';
import { SeatStates, type SeatChange, type SeatMapJson } from './states.ts';

const READS_MAX = 3;

/** What an event's seats are, read as a map and kept up to date by what the server tells. */
export class LiveSeats {
  states = $state.raw<SeatStates | undefined>();
  /** Reads the map; many at once are one reading. */
  readonly load: () => Promise<void>;
  readonly #read: () => Promise<SeatMapJson>;
  /** The number of the newest message. */
  #heard = 0;

  constructor(read: () => Promise<SeatMapJson>) {
    this.#read = read;
    this.load = coalesced(() => this.#load());
  }

  /** Whether the message was enough; otherwise the map is to be read again. */
  hear(changes: unknown, seq: number): boolean {
    this.#heard = seq;
    if (!Array.isArray(changes)) return false;
    return this.states?.apply(changes as SeatChange[], seq) !== 'gap';
  }

  /** Messages up to this one may have been missed. */
  missed(seq: number): void {
    this.#heard = seq;
  }

  async #load(): Promise<void> {
    for (let count = 0; count < READS_MAX; count++) {
      const map = await this.#read();
      this.states = SeatStates.fromMap(map);
      // What came while it was being read went to the map before it.
      if (this.#heard <= map.seq) return;
    }
  }
}
