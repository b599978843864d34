import { expect, test } from 'vitest';
import { keepOrganization, offeredOrganization } from './organization.ts';
import { aMemory } from './testing.ts';

test('offers nothing to a stranger', () => {
  expect(offeredOrganization('', aMemory())).toBe('');
});

test('offers the organisation of last time, but rather that of the link', () => {
  const memory = aMemory();
  keepOrganization('die-skuur', memory);
  expect(offeredOrganization('', memory)).toBe('die-skuur');
  expect(offeredOrganization('?org=the-barn', memory)).toBe('the-barn');
});
