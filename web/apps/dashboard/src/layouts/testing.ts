import type { Layout } from '@voelgoed/api';

export function aLayout(facts: Partial<Layout> = {}): Layout {
  return {
    id: 'one',
    lineage_id: 'one',
    venue_id: 'venue',
    name: 'Hall',
    description: '',
    version: 1,
    status: 'active',
    total_capacity: 4,
    seat_count: 4,
    config_hash: 'hash',
    created_at: '2030-01-01T10:00:00Z',
    updated_at: '2030-01-01T10:00:00Z',
    ...facts,
  };
}

/** One row of seats, by their numbers. */
export function aRow(numbers: readonly number[], facts: Record<string, unknown> = {}): object {
  const seats = numbers.map((number) => ({
    seat_id: `A-${number}`,
    row: 'A',
    number,
    coordinates: { x: number, y: 0 },
  }));
  const zone = { zone_id: 'stalls', zone_type: 'reserved_seating', name: 'Stalls' };
  return { zones: [{ ...zone, capacity: seats.length, seats, ...facts }] };
}
