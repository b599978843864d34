export { answer, createApi, PATIENTLY, type Api } from './client.ts';
export { coalesced } from './coalesce.ts';
export { ApiError } from './error.ts';
export { readEvents } from './events.ts';
export type { ImportFault, TicketImport } from './import_types.ts';
export { readLayouts } from './layouts.ts';
export { LiveClient, liveUrl, type LiveListener, type LiveState } from './live.ts';
export { everyPage } from './pages.ts';
export type {
  AttendanceReport,
  FunnelReport,
  NoShow,
  NoShowReport,
  SalesReport,
} from './report_types.ts';
export type {
  Alert,
  AuditEntry,
  ConflictInFull,
  ConflictingScan,
  DeniedReason,
  EventOccupancy,
  EventOutlook,
  EventScan,
  FleetDevice,
  ManifestStatus,
  Pairing,
  RecoveredScan,
  Recovery,
  ZoneCount,
} from './scanning_types.ts';
export type {
  Membership,
  MembershipView,
  Organization,
  ScanPolicy,
  SeatingPolicy,
  SessionSummary,
  TicketType,
  User,
  Whitelist,
  WhitelistEntry,
} from './setup_types.ts';
export type {
  EventSeating,
  EventZone,
  Layout,
  LayoutDiff,
  LayoutFault,
  LayoutOverrides,
  TextFault,
} from './seating_types.ts';
export type { Event, Gate, Session, Venue } from './types.ts';
export { readVenues } from './venues.ts';
