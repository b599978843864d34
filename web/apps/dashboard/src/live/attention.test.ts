import type { EventOutlook } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { crowded, openWork } from './attention.ts';
import { level } from './levels.ts';

test('names what is nearly full, after what is full', () => {
  const levels = [
    level('a', 'North', 90, 100),
    level('b', 'South', 89, 100),
    level('c', 'Floor', 120, 100),
    level('d', 'East', 5_000, null),
  ];
  expect(crowded(levels)).toEqual([
    { id: 'c', name: 'Floor', fullness: 'full' },
    { id: 'a', name: 'North', fullness: 'nearly' },
  ]);
});

test('whatever waits for a decision is work', () => {
  const open = { alerts: 2, critical_alerts: 1, conflicts: 3, recoveries: 1 };
  expect(openWork({ open } as EventOutlook)).toBe(6);
});
