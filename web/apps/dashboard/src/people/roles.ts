import type { User } from '@voelgoed/api';

export type Role = User['role'];

/** From who may do most to who may do least. */
export const ROLES: readonly Role[] = [
  'owner',
  'admin',
  'organiser',
  'box_office',
  'gate_supervisor',
  'customer',
];

/** The roles that somebody may give and take; the server has the last word. */
export function rolesGivenBy(role: Role | undefined): readonly Role[] {
  if (role === 'owner') return ROLES;
  if (role === 'admin') return ROLES.filter((each) => each !== 'owner');
  return [];
}
