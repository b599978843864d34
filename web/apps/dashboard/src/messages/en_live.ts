import { fewIn } from './few.ts';

const few = fewIn('en-ZA');

export const pressure = {
  levels: { quiet: 'Quiet', busy: 'Busy', pressed: 'Under pressure' },
  pace: (perMinute: string) => `${perMinute} a minute`,
  turnedAway: (count: string) => `${count} of them turned away`,
  best: (best: string) => `${best} at best`,
  toCome: (count: number) => `${few(count, 'ticket', 'tickets')} still to come.`,
  allIn: 'Everybody is in.',
  at: (time: string) => `At this pace everybody is in at ${time}.`,
  never: 'Too few come in now to say when everybody is in.',
};

export const attention = {
  title: 'Needs attention',
  nothing: 'Nothing needs attention.',
  nearly: (name: string) => `${name} is nearly full`,
  full: (name: string) => `${name} is full`,
  event: 'The event',
  alerts: (count: number) => few(count, 'open alert', 'open alerts'),
  critical: (count: number) => `${count.toLocaleString('en-ZA')} critical`,
  conflicts: (count: number) => few(count, 'open conflict', 'open conflicts'),
  recoveries: (count: number) =>
    few(count, 'batch of unverified scans', 'batches of unverified scans'),
  look: 'Look at them in the work queues',
};

export const manifest = {
  title: 'Ticket list for when there is no network',
  none: 'No ticket list was made yet',
  noneText: 'It is made when the first device asks for it.',
  version: 'Version',
  tickets: 'Tickets in it',
  made: 'Made',
  checked: 'Known to be right',
  size: 'Size',
  sizes: (size: string, onTheWay: string) => `${size}, ${onTheWay} on the way`,
  kilobytes: (count: string) => `${count} kB`,
  who: 'Which device has which',
  has: (version: string) => `Version ${version}`,
  newest: 'newest',
  neverSaid: 'Never said',
  behind: (count: number) =>
    count === 1 ? '1 device is behind' : `${count.toLocaleString('en-ZA')} devices are behind`,
  allHave: 'Every device has the newest one.',
};
