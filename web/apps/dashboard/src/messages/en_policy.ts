export const policy = {
  title: 'Seating policy',
  text: 'What holds about seats and bookings at all your events. An event may do otherwise in what is not binding.',
  reading: 'Reading the seating policy',
  failed: 'The seating policy could not be read',
  readOnly: 'Your role may read this and not change it.',
  binding: (rule: string) => `Binding for all events: ${rule}`,
  groups: {
    offer: 'What may be offered',
    choice: 'Choosing seats',
    accessibility: 'Accessibility',
    holds: 'Holding seats',
  },
  rules: {
    allow_reserved_seating: {
      name: 'Numbered seats',
      text: 'Events may sell seats that have a row and a number.',
    },
    allow_ga_seating: {
      name: 'Places without numbers',
      text: 'Events may sell places in a zone, to stand or to sit where one likes.',
    },
    allow_hybrid_ga_reserved: {
      name: 'Both at one event',
      text: 'An event may have numbered seats and places without numbers side by side.',
    },
    allow_vip_zones: {
      name: 'VIP zones',
      text: 'Layouts may have zones for guests of honour.',
    },
    max_seats_per_booking: {
      name: 'Most seats in one booking (seats)',
      text: 'From 1 to 50. Whoever wants more books twice or calls you.',
    },
    orphan_avoidance_strict: {
      name: 'Leave no single seat behind',
      text: 'A booking that leaves one free seat between taken ones is refused, for nobody buys it.',
    },
    group_adjacency_strict: {
      name: 'Groups sit together or not at all',
      text: 'If off, a group that fits nowhere together is offered seats close to each other.',
    },
    max_group_split: {
      name: 'Parts of a group at most so far apart (rows)',
      text: 'From 0 to 20. With 0 all parts of a group are in one row.',
    },
    prefer_clustering_over_selection: {
      name: 'The system chooses the seats',
      text: 'Customers say how many they want, not which. The house fills without gaps.',
    },
    enforce_accessibility_rules: {
      name: 'Keep companion seats',
      text: 'The seat beside a taken wheelchair place is kept for whoever comes along.',
    },
    max_wheelchair_seats_per_booking: {
      name: 'Most wheelchair places in one booking (places)',
      text: 'From 1 to 50.',
    },
    companion_release_occupancy_threshold: {
      name: 'Sell companion seats to all when so full (percent)',
      text: 'From 0 to 100. Once this much of the house is sold, kept companion seats are sold to everybody.',
    },
    accessibility_audit_enabled: {
      name: 'Record bookings of wheelchair places',
      text: 'Each is written to the audit log, to show that the rules are kept.',
    },
    default_hold_ttl_minutes: {
      name: 'How long a seat is held (minutes)',
      text: 'From 1 to 60. So long somebody has to pay before the seat is free again.',
    },
    max_holds_per_user: {
      name: 'Most seats held by one person (seats)',
      text: 'Empty: no limit but the general one.',
    },
    max_holds_per_ip: {
      name: 'Most seats held from one internet address (seats)',
      text: 'Empty: no limit. A whole office may share one address.',
    },
  },
};

export const scanPolicy = {
  title: 'How this event is scanned',
  reading: 'Reading the scan policy',
  failed: 'The scan policy could not be read',
  atTheGate: 'At the gate',
  suspicious: 'What raises an alert',
  suspiciousHint: 'Nobody is turned away by these; they appear in the work queues.',
  rules: {
    dedup_window_s: {
      name: 'Duplicate window (seconds)',
      text: 'For so long after an entry the same ticket is turned away as a duplicate. Usually 300.',
    },
    travel_s: {
      name: 'Shortest way between two gates (seconds)',
      text: 'A ticket that is shown at two gates in less time is suspicious. Usually 300.',
    },
    duplicates_per_hour_max: {
      name: 'Duplicates of one ticket (per hour)',
      text: 'More than so many are suspicious. Usually 5.',
    },
    gate_scans_per_minute_max: {
      name: 'Scans at one gate (per minute)',
      text: 'More than so many are suspicious. Usually 60.',
    },
    device_error_rate_max: {
      name: 'Errors of one device (percent)',
      text: 'Of its scans in ten minutes, if there are at least twenty: unreadable or forged codes, a wrong clock. Usually 10.',
    },
  },
  blocks: 'Stop a device that errs more often',
  blocksText: 'It scans no more until somebody activates it again.',
};
