import type { Component } from 'svelte';
import type { PageName } from './addresses.ts';
import DetailsPage from './arrange/DetailsPage.svelte';
import NewEventPage from './arrange/NewEventPage.svelte';
import ScanPolicyPage from './arrange/ScanPolicyPage.svelte';
import AuditPage from './audit/AuditPage.svelte';
import DevicesPage from './devices/DevicesPage.svelte';
import EventPage from './EventPage.svelte';
import EventsPage from './EventsPage.svelte';
import GatesPage from './gates/GatesPage.svelte';
import ImportsPage from './imports/ImportsPage.svelte';
import ComparePage from './layouts/ComparePage.svelte';
import ImportPage from './layouts/ImportPage.svelte';
import LayoutPage from './layouts/LayoutPage.svelte';
import NextVersionPage from './layouts/NextVersionPage.svelte';
import VenuePage from './layouts/VenuePage.svelte';
import LivePage from './live/LivePage.svelte';
import OrganizationPage from './organization/OrganizationPage.svelte';
import PeoplePage from './people/PeoplePage.svelte';
import PersonPage from './people/PersonPage.svelte';
import PolicyPage from './policy/PolicyPage.svelte';
import OverlayPage from './overlay/OverlayPage.svelte';
import QueuesPage from './queues/QueuesPage.svelte';
import AttendancePage from './reports/AttendancePage.svelte';
import FunnelPage from './reports/FunnelPage.svelte';
import NoShowsPage from './reports/NoShowsPage.svelte';
import ReportsPage from './reports/ReportsPage.svelte';
import SalesPage from './reports/SalesPage.svelte';
import SetupPage from './setup/SetupPage.svelte';
import TicketsPage from './tickets/TicketsPage.svelte';
import VenuesPage from './venues/VenuesPage.svelte';
import WhitelistsPage from './whitelists/WhitelistsPage.svelte';

/** Each takes what its address names: `/events/:id` gives it an `id`. */
export const PAGES: Record<PageName, Component<any>> = {
  events: EventsPage,
  audit: AuditPage,
  setup: SetupPage,
  organization: OrganizationPage,
  people: PeoplePage,
  person: PersonPage,
  whitelists: WhitelistsPage,
  venues: VenuesPage,
  policy: PolicyPage,
  newEvent: NewEventPage,
  venue: VenuePage,
  layoutImport: ImportPage,
  layoutView: LayoutPage,
  layoutVersion: NextVersionPage,
  layoutDiff: ComparePage,
  overview: EventPage,
  layout: OverlayPage,
  live: LivePage,
  queues: QueuesPage,
  devices: DevicesPage,
  reports: ReportsPage,
  sales: SalesPage,
  attendance: AttendancePage,
  noShows: NoShowsPage,
  funnel: FunnelPage,
  details: DetailsPage,
  tickets: TicketsPage,
  gates: GatesPage,
  scanPolicy: ScanPolicyPage,
  imports: ImportsPage,
};
