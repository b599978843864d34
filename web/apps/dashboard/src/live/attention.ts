import type { EventOutlook } from '@voelgoed/api';
import type { Level } from './levels.ts';

export interface Crowded {
  id: string;
  name: string;
  fullness: 'nearly' | 'full';
}

/** What is full or nearly so, the full ones first. */
export function crowded(levels: Level[]): Crowded[] {
  const found = levels.flatMap(({ id, name, fullness }) =>
    fullness === 'room' ? [] : [{ id, name, fullness }],
  );
  return [
    ...found.filter(({ fullness }) => fullness === 'full'),
    ...found.filter(({ fullness }) => fullness === 'nearly'),
  ];
}

export function openWork({ open }: EventOutlook): number {
  return open.alerts + open.conflicts + open.recoveries;
}
