import type { Gate } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { gateFacts } from './gate_facts.ts';
import { LANGUAGES } from './messages/index.ts';

const told = (facts: Partial<Gate>) =>
  gateFacts(LANGUAGES.en, { code: 'north', allowed_zones: null, capacity: null, ...facts } as Gate);

test('tells what a gate is for', () => {
  expect(told({})).toBe('north · all zones');
  expect(told({ allowed_zones: ['a'], capacity: 1 })).toBe('north · 1 zone · 1 place');
  expect(told({ allowed_zones: ['a', 'b'], capacity: 900 })).toBe('north · 2 zones · 900 places');
});
