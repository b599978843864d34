import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

export type AttendanceReport = Schemas['AttendanceReport'];
export type FunnelReport = Schemas['FunnelReport'];
export type NoShow = Schemas['NoShow'];
export type NoShowReport = Schemas['NoShowReport'];
export type SalesReport = Schemas['SalesReport'];
