import { readFileSync } from 'node:fs';
import type { TestServer } from './test_server.ts';

interface Zone {
  seats: { seat_id: string }[];
}

export interface Stadium {
  config: { zones: Zone[]; total_capacity?: number };
  seatIds: string[];
}

/** The stadium of the samples, of as many of its sections as have that many seats. */
export async function stadium(server: TestServer, file: string, seats: number): Promise<Stadium> {
  await server.command('layout', 'generate', 'stadium', '--output', file);
  const config = JSON.parse(readFileSync(file, 'utf8')) as Stadium['config'];
  delete config.total_capacity;
  let count = 0;
  config.zones = config.zones.filter((zone) => {
    if (count >= seats) return false;
    count += zone.seats.length;
    return true;
  });
  const seatIds = config.zones.flatMap((zone) => zone.seats.map(({ seat_id: id }) => id));
  return { config, seatIds };
}
