import type { ManifestStatus } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { aDevice } from '../testing.ts';
import { behind, versionsHeld } from './manifest_facts.ts';

const status = (manifest_version: number | null) => ({ manifest_version }) as ManifestStatus;

const devices = [
  aDevice({ name: 'South', manifest_version: 6 }),
  aDevice({ name: 'East', manifest_version: null }),
  aDevice({ name: 'North', manifest_version: 7 }),
  aDevice({ name: 'Lost', manifest_version: 2, is_revoked: true }),
  aDevice({ name: 'Main', manifest_version: 7 }),
];

test('names who has which version, the newest first and who never said last', () => {
  expect(versionsHeld(devices, 7)).toEqual([
    { version: 7, isNewest: true, names: ['Main', 'North'] },
    { version: 6, isNewest: false, names: ['South'] },
    { version: null, isNewest: false, names: ['East'] },
  ]);
});

test('whoever has an older one, or none, is behind; a revoked device is not', () => {
  expect(behind(versionsHeld(devices, 7), status(7))).toBe(2);
  expect(behind(versionsHeld(devices, 7), status(null))).toBe(0);
});
