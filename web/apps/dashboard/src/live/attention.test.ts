import type { EventOutlook } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { crowded, openWork } from './attention.ts';
import { level } from './levels.ts';

const heads = (inside: number) => ({ inside, irregular: 0 });

test('names what is nearly full, after what is full', () => {
  const levels = [
    level('a', 'North', heads(90), 100),
    level('b', 'South', heads(89), 100),
    level('c', 'Floor', heads(120), 100),
    level('d', 'East', heads(5_000), null),
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
