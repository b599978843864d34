import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

export type Membership = Schemas['Membership'];
export type MembershipView = Schemas['MembershipView'];
export type Organization = Schemas['Organization'];
export type ScanPolicy = Schemas['ScanPolicy'];
export type SeatingPolicy = Schemas['SeatingPolicy'];
export type SessionSummary = Schemas['SessionSummary'];
export type TicketType = Schemas['TicketType'];
export type User = Schemas['User'];
export type Whitelist = Schemas['Whitelist'];
export type WhitelistEntry = Schemas['WhitelistEntry'];
