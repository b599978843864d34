import type { EventOccupancy, Gate, ZoneCount } from '@voelgoed/api';

/** From so much on a gate is said to be nearly full, as the server's alert has it. */
const NEARLY_FULL_PERCENT = 90;
const FULL_PERCENT = 100;

export interface Level {
  id: string;
  name: string;
  inside: number;
  /** How many of those inside had no right to come in. */
  irregular: number;
  /** Null: nobody set a limit. */
  capacity: number | null;
  percent: number | null;
  fullness: 'room' | 'nearly' | 'full';
}

/** How many are inside, and how many of them had no right to come in. */
interface Heads {
  inside: number;
  irregular: number;
}

const NOBODY: Heads = { inside: 0, irregular: 0 };

export function level(id: string, name: string, heads: Heads, capacity: number | null): Level {
  // Somebody who left by a gate they did not come in by is no negative person.
  const shown = Math.max(heads.inside, 0);
  const percent = capacity ? Math.floor((shown * 100) / capacity) : null;
  const fullness = fullnessOf(percent);
  return { id, name, inside: shown, irregular: heads.irregular, capacity, percent, fullness };
}

function fullnessOf(percent: number | null): Level['fullness'] {
  if (percent === null || percent < NEARLY_FULL_PERCENT) return 'room';
  return percent < FULL_PERCENT ? 'nearly' : 'full';
}

/** Who is inside, in all and by gate and zone: read once, then moved by what is heard. */
export class Levels {
  total = 0;
  irregular = 0;
  capacity = 0;
  readonly #heads = new Map<string, Heads>();

  read(occupancy: EventOccupancy): void {
    this.total = occupancy.current;
    this.capacity = occupancy.capacity;
    this.irregular = occupancy.irregular;
    this.#heads.clear();
    for (const { gate_id, inside, irregular } of occupancy.gates) {
      this.#heads.set(gate_id, { inside, irregular });
    }
    for (const { day, scope, scope_id, inside, irregular } of occupancy.counts) {
      if (day === occupancy.day && scope === 'zone')
        this.#heads.set(scope_id, { inside, irregular });
    }
  }

  /** Who was let in irregularly is in no message: that stays as it was read. */
  hear(total: number, gateId: string, atGate: number | null): void {
    this.total = total;
    if (atGate !== null) this.#heads.set(gateId, { ...this.#at(gateId), inside: atGate });
  }

  event(id: string): Level {
    return level(id, '', { inside: this.total, irregular: this.irregular }, this.capacity);
  }

  gates(gates: Gate[]): Level[] {
    return gates.map(({ id, name, capacity }) => level(id, name, this.#at(id), capacity));
  }

  zones(zones: ZoneCount[]): Level[] {
    return zones.map(({ zone_id, name, capacity }) =>
      level(zone_id, name, this.#at(zone_id), capacity),
    );
  }

  #at(scopeId: string): Heads {
    return this.#heads.get(scopeId) ?? NOBODY;
  }
}
