import { fewIn } from './few.ts';

const few = fewIn('en-ZA');

export const overlay = {
  reading: 'Reading the layout of this event',
  failed: 'The layout of this event could not be read',
  none: 'This event has no layout yet',
  noneText: 'Choose a layout of its venue, and zones and seats appear here.',
  noChoices: 'Its venue has no active layout',
  noChoicesText: 'Import one and activate it first.',
  toVenue: 'Layouts of the venue',
  layout: 'Layout',
  use: 'Use this layout',
  useTitle: 'Use another layout?',
  useText:
    'What this event does differently with its layout is forgotten: closed zones, and seats that its layout blocks. Seats that were blocked by hand stay blocked where they exist.',
  current: (name: string, version: number) => `${name}, version ${version}`,
  archived: 'This version is archived. The event keeps it.',
  refused: 'The layout was not changed',
  frozen:
    'Tickets are sold, so the layout stays as it is. Seats can still be blocked and put back below.',
  held: 'Somebody holds seats right now, so the layout cannot change. Try again when they are done; seats can be blocked meanwhile.',
  conflict: 'Somebody else changed it meanwhile. This is what they made of it; try again.',
  seats: 'Seats',
  click: 'A click chooses',
  choosing: { seat: 'one seat', row: 'a row', frame: 'all in a frame' },
  frameHint: 'Draw a frame over the seats. The buttons on the map still move it.',
  chosen: (count: number) => `${few(count, 'seat', 'seats')} chosen`,
  noneChosen: 'Choose seats on the map or in the list to block them or put them back.',
  which: 'Which',
  andMore: (count: number) => `and ${count} more`,
  letGo: 'Let go',
  reason: 'Reason',
  reasonHint: 'Kept in the audit log',
  reasonMissing: 'Say why.',
  block: (count: number) => `Block ${few(count, 'seat', 'seats')}`,
  unblock: (count: number) => `Put ${few(count, 'seat', 'seats')} back`,
  blockRefused: 'The seats were not changed',
  byLayout:
    'The layout of this event blocks these seats. Take them out of its blocked seats instead.',
  blocked: (count: number) => `${few(count, 'seat is', 'seats are')} blocked.`,
  lifted: (count: number) => `${few(count, 'seat is', 'seats are')} back.`,
  takenTitle: (count: number) =>
    count === 1 ? 'One seat is held or sold' : `${count} seats are held or sold`,
  takenText: (seats: string) =>
    `${seats}. Who holds a seat loses it. Who bought one keeps the ticket: speak to them. Block them all the same?`,
  takenAction: 'Block them all the same',
  inLayout: 'In the layout itself',
  inLayoutText:
    'Seats that this event never offers. Unlike a block by hand it needs no reason, and cannot change once tickets are sold.',
  inLayoutNow: (count: number) => `${few(count, 'seat is', 'seats are')} blocked by the layout.`,
  addToLayout: 'Block the chosen seats in the layout',
  takeFromLayout: 'Take the chosen seats out',
  zones: 'Zones of this event',
  zonesText: 'A closed zone is not offered to anybody.',
  open: (name: string) => `${name} is open`,
  pricing: 'has a price of its own',
  free: 'Free',
  zoneFacts: (kind: string, places: string, who: string) => `${kind} · ${places} · ${who}`,
};
