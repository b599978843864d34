import type { Session } from '@voelgoed/api';

interface Address {
  path: string;
  /** What one must be allowed to do to see the page. */
  permission: Session['permissions'][number];
}

/** Where every page is; the first that fits an address is meant. */
export const ADDRESSES = {
  events: { path: '/', permission: 'events.read' },
  audit: { path: '/audit', permission: 'audit.read' },
  setup: { path: '/setup', permission: 'organization.read' },
  organization: { path: '/setup/organization', permission: 'organization.read' },
  people: { path: '/setup/people', permission: 'users.read' },
  person: { path: '/setup/people/:id', permission: 'users.read' },
  whitelists: { path: '/setup/whitelists', permission: 'whitelists.read' },
  venues: { path: '/setup/venues', permission: 'venues.read' },
  policy: { path: '/setup/policy', permission: 'seating_policy.read' },
  newEvent: { path: '/events/new', permission: 'events.write' },
  venue: { path: '/setup/venues/:id', permission: 'layouts.read' },
  layoutImport: { path: '/setup/venues/:id/import', permission: 'layouts.write' },
  layoutView: { path: '/setup/layouts/:id', permission: 'layouts.read' },
  layoutVersion: { path: '/setup/layouts/:id/import', permission: 'layouts.write' },
  layoutDiff: { path: '/setup/layouts/:id/diff/:other', permission: 'layouts.read' },
  overview: { path: '/events/:id', permission: 'gates.read' },
  layout: { path: '/events/:id/layout', permission: 'layouts.read' },
  live: { path: '/events/:id/live', permission: 'admissions.read' },
  queues: { path: '/events/:id/queues', permission: 'admissions.read' },
  devices: { path: '/events/:id/devices', permission: 'devices.read' },
  reports: { path: '/events/:id/reports', permission: 'gates.read' },
  sales: { path: '/events/:id/reports/sales', permission: 'sales.read' },
  attendance: { path: '/events/:id/reports/attendance', permission: 'admissions.read' },
  noShows: { path: '/events/:id/reports/no-shows', permission: 'sales.read' },
  funnel: { path: '/events/:id/reports/funnel', permission: 'sales.read' },
  details: { path: '/events/:id/details', permission: 'events.write' },
  tickets: { path: '/events/:id/tickets', permission: 'ticket_types.read' },
  gates: { path: '/events/:id/gates', permission: 'gates.read' },
  scanPolicy: { path: '/events/:id/scan-policy', permission: 'gates.read' },
  imports: { path: '/events/:id/imports', permission: 'tickets.import' },
} as const satisfies Record<string, Address>;

export type PageName = keyof typeof ADDRESSES;

/** The pages that every page leads to, in that order. */
export const MAIN_PAGES = ['events', 'setup', 'audit'] as const satisfies PageName[];

/** The parts of the set-up. */
export const SETUP_PAGES = [
  'organization',
  'people',
  'whitelists',
  'venues',
  'policy',
] as const satisfies PageName[];

/** The pages that every page of an event leads to: while it runs, and before. */
export const EVENT_PAGES = {
  run: ['overview', 'live', 'queues', 'devices', 'reports'],
  arrange: ['details', 'layout', 'tickets', 'gates', 'scanPolicy', 'imports'],
} as const satisfies Record<string, PageName[]>;

export type EventPageGroup = keyof typeof EVENT_PAGES;
export type EventPageName = (typeof EVENT_PAGES)[EventPageGroup][number];
