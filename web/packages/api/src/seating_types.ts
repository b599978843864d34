import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

export type EventSeating = Schemas['EventSeating'];
export type EventZone = Schemas['EventZone'];
export type Layout = Schemas['Layout'];
export type LayoutDiff = Schemas['LayoutDiff'];
export type LayoutFault = Schemas['Fault'];
export type LayoutOverrides = Schemas['Overrides'];
export type TextFault = Schemas['TextFault'];
