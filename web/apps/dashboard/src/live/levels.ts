import type { EventOccupancy, Gate, ZoneCount } from '@voelgoed/api';

/** From so much on a gate is said to be nearly full, as the server's alert has it. */
const NEARLY_FULL_PERCENT = 90;
const FULL_PERCENT = 100;

export interface Level {
  id: string;
  name: string;
  inside: number;
  /** Null: nobody set a limit. */
  capacity: number | null;
  percent: number | null;
  fullness: 'room' | 'nearly' | 'full';
}

export function level(id: string, name: string, inside: number, capacity: number | null): Level {
  // Somebody who left by a gate they did not come in by is no negative person.
  const shown = Math.max(inside, 0);
  const percent = capacity ? Math.floor((shown * 100) / capacity) : null;
  return { id, name, inside: shown, capacity, percent, fullness: fullnessOf(percent) };
}

function fullnessOf(percent: number | null): Level['fullness'] {
  if (percent === null || percent < NEARLY_FULL_PERCENT) return 'room';
  return percent < FULL_PERCENT ? 'nearly' : 'full';
}

/** Who is inside, in all and by gate and zone: read once, then moved by what is heard. */
export class Levels {
  total = 0;
  capacity = 0;
  readonly #inside = new Map<string, number>();

  read(occupancy: EventOccupancy): void {
    this.total = occupancy.current;
    this.capacity = occupancy.capacity;
    this.#inside.clear();
    for (const { gate_id, inside } of occupancy.gates) this.#inside.set(gate_id, inside);
    for (const { day, scope, scope_id, inside } of occupancy.counts) {
      if (day === occupancy.day && scope === 'zone') this.#inside.set(scope_id, inside);
    }
  }

  hear(total: number, gateId: string, atGate: number | null): void {
    this.total = total;
    if (atGate !== null) this.#inside.set(gateId, atGate);
  }

  event(id: string): Level {
    return level(id, '', this.total, this.capacity);
  }

  gates(gates: Gate[]): Level[] {
    return gates.map(({ id, name, capacity }) =>
      level(id, name, this.#inside.get(id) ?? 0, capacity),
    );
  }

  zones(zones: ZoneCount[]): Level[] {
    return zones.map(({ zone_id, name, capacity }) =>
      level(zone_id, name, this.#inside.get(zone_id) ?? 0, capacity),
    );
  }
}
