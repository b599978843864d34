import { expect, test } from 'vitest';
import { ROLES, rolesGivenBy } from './roles.ts';

test('owners give every role, admins every one but theirs above them, others none', () => {
  expect(rolesGivenBy('owner')).toEqual(ROLES);
  expect(rolesGivenBy('admin')).toEqual(ROLES.slice(1));
  expect([rolesGivenBy('organiser'), rolesGivenBy(undefined)]).toEqual([[], []]);
});
