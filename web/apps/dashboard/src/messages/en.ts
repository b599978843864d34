import type { Event, Gate } from '@voelgoed/api';
import { arrange, gateSetup, tickets } from './en_arrange.ts';
import { audit } from './en_audit.ts';
import { emptying } from './en_emptying.ts';
import { imports } from './en_imports.ts';
import { attention, manifest, pressure } from './en_live.ts';
import { policy, scanPolicy } from './en_policy.ts';
import { comparison, layoutImport, layouts, map } from './en_layouts.ts';
import { overlay } from './en_overlay.ts';
import { alertKinds, reasons } from './en_reasons.ts';
import { reports } from './en_reports.ts';
import { memberships, organization, people, setup, venues, whitelists } from './en_setup.ts';
import { devices, queues } from './en_work.ts';
import { fewIn } from './few.ts';

const few = fewIn('en-ZA');

const eventStatus: Record<Event['status'], string> = {
  draft: 'Draft',
  published: 'Published',
  live: 'Live',
  ended: 'Ended',
  archived: 'Archived',
  cancelled: 'Cancelled',
};

const gateStatus: Record<Gate['status'], string> = { open: 'Open', closed: 'Closed' };

/** The source of all words of this app: every other language has exactly these keys. */
export const en = {
  locale: 'en-ZA',
  appName: 'Dashboard',

  nav: {
    label: 'Pages',
    events: 'Events',
    audit: 'Audit log',
    event: 'Pages of this event',
    overview: 'Overview',
    live: 'Live',
    queues: 'Work queues',
    devices: 'Devices',
    reports: 'Reports',
    imports: 'Ticket import',
    setup: 'Set-up',
    organization: 'Organisation',
    people: 'People',
    person: 'Person',
    whitelists: 'Whitelists',
    venues: 'Venues',
    policy: 'Seating policy',
    run: 'On the day',
    arrange: 'Set up',
    details: 'Details',
    tickets: 'Ticket types',
    gates: 'Gates',
    scanPolicy: 'Scanning',
    layout: 'Layout',
    where: 'Where you are',
    allEvents: 'All events',
    nowhere: 'There is nothing here',
    nowhereText: 'The address names no page. Choose one above.',
    closed: 'This page is not yours',
    closedText: 'Your role does not allow it. Whoever runs your organisation can change that.',
  },

  customers: {
    title: 'For the people who run the events',
    text: 'You are logged in as a customer. Events and tickets are in the',
    boxOffice: 'box office',
  },

  events: {
    title: 'Events',
    reading: 'Reading the events',
    failed: 'The events could not be read',
    coming: 'Now and next',
    none: 'Nothing is planned',
    noneText: 'Events of your organisation appear here.',
    past: 'Past events',
    pastFailed: 'The past events could not be read',
    showPast: 'Show past events',
    noPast: 'No past events',
    noPastText: 'Events that ended or were cancelled appear here.',
    places: (count: number) => few(count, 'place', 'places'),
  },

  event: {
    title: 'Event',
    reading: 'Reading the event',
    failed: 'This event could not be read',
    where: 'Where',
    when: 'When',
    days: 'Days',
    onSale: 'On sale',
    from: (moment: string) => `from ${moment}`,
    until: (moment: string) => `until ${moment}`,
    noDates: 'No dates set',
    capacity: 'Capacity',
    status: eventStatus,
  },

  gates: {
    title: 'Gates',
    notChanged: 'The gate was not changed',
    none: 'No gates yet',
    noneText: 'The gates of this event appear here.',
    open: 'Open',
    close: 'Close',
    status: gateStatus,
    allZones: 'all zones',
    zones: (count: number) => few(count, 'zone', 'zones'),
  },

  age: {
    seconds: (count: number) => `${count} s`,
    minutes: (count: number) => `${count} min`,
    hours: (count: number) => `${count} h`,
    days: (count: number) => few(count, 'day', 'days'),
    ago: (age: string) => `${age} ago`,
  },

  live: {
    reading: 'Reading the counts',
    failed: 'The counts are not up to date',
    inside: 'Inside now',
    counted: (count: string) => `${count} counted`,
    silent: (count: number, age: string) => `${few(count, 'device', 'devices')} silent for ${age}`,
    silentUpTo: (count: number, age: string) =>
      `${few(count, 'device', 'devices')} silent for up to ${age}`,
    waiting: (count: number) => `${few(count, 'scan', 'scans')} still on devices`,
    allHeard: 'all devices are heard from',
    percent: (percent: number) => `${percent} % full`,
    of: (inside: string, capacity: string) => `${inside} of ${capacity}`,
    noLimit: 'no limit set',
    irregular: (count: string) => `of which ${count} without a right to be there`,
    fullness: { room: '', nearly: 'Nearly full', full: 'Full' },
    byGate: 'By gate',
    byZone: 'By zone',
    noGates: 'This event has no gates yet',
    noGatesText: 'Add a gate, and who comes in by it is counted here.',
    perMinute: 'In and out, per minute',
    entries: 'In',
    exits: 'Out',
    chart: (entries: number, exits: number, peak: number) =>
      `In the last 60 seconds ${entries} in and ${exits} out. The busiest minute had ${peak}.`,
    lately: (entries: string, exits: string) => `Last 60 seconds: ${entries} in, ${exits} out`,
    now: 'now',
    denied: (minutes: number) => `Turned away in the last ${minutes} minutes`,
    nobodyDenied: 'Nobody was turned away.',
    duplicates: (count: number) => `${few(count, 'duplicate', 'duplicates')} among them`,
    unheardGates: (count: number) =>
      `Who is turned away is followed at the first ${count} gates only.`,
    fleet: 'Devices at the gates',
    noDevices: 'No devices yet',
    noDevicesText: 'Pair a device, and how it is doing appears here.',
    list: (version: number, age: string) => `Ticket list ${version}, made ${age} ago`,
    noList: 'No ticket list was made yet',
    device: 'Device',
    gate: 'Gate',
    noGate: 'No gate',
    lastSeen: 'Last seen',
    queue: 'Queue',
    battery: 'Battery',
    clock: 'Clock',
    clockOff: (seconds: string) => `${seconds} s off`,
    ticketList: 'List',
    listNewest: 'newest',
    listBehind: (age: string) => `${age} behind`,
    listBehindAtLeast: (age: string) => `at least ${age} behind`,
    unknown: 'unknown',
    online: 'Online',
    isSilent: 'Silent',
    inactive: 'Off',
    doubts: {
      silent: 'silent',
      queue: 'has scans to send',
      battery: 'battery low',
      clock: 'clock wrong',
      list: 'old ticket list',
    },
  },

  pressure,
  attention,
  emptying,
  manifest,
  reasons,
  alertKinds,
  queues,
  audit,
  imports,
  devices,
  layouts,
  layoutImport,
  comparison,
  overlay,
  map,
  reports,

  setup,
  organization,
  people,
  memberships,
  whitelists,
  venues,
  policy,
  arrange,
  tickets,
  gateSetup,
  scanPolicy,
};

export type Messages = typeof en;
