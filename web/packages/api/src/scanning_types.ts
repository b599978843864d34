import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

export type Alert = Schemas['Alert'];
export type AuditEntry = Schemas['AuditEntry'];
export type ConflictInFull = Schemas['ConflictInFull'];
export type ConflictingScan = Schemas['ConflictingScan'];
export type EventOccupancy = Schemas['EventOccupancy'];
export type EventOutlook = Schemas['EventOutlook'];
export type EventScan = Schemas['EventScan'];
export type FleetDevice = Schemas['FleetDevice'];
export type ManifestStatus = Schemas['ManifestStatus'];
export type Pairing = Schemas['Pairing'];
export type RecoveredScan = Schemas['RecoveredScan'];
export type Recovery = Schemas['Recovery'];
export type ZoneCount = Schemas['ZoneCount'];
export type DeniedReason = NonNullable<EventScan['reason_denied']>;
