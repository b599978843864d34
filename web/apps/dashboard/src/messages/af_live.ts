import type { Messages } from './en.ts';
import { fewIn } from './few.ts';

const few = fewIn('af-ZA');

export const pressure: Messages['pressure'] = {
  levels: { quiet: 'Rustig', busy: 'Besig', pressed: 'Onder druk' },
  pace: (perMinute) => `${perMinute} per minuut`,
  turnedAway: (count) => `${count} van hulle weggewys`,
  best: (best) => `op sy beste ${best}`,
  toCome: (count) => `${few(count, 'kaartjie moet', 'kaartjies moet')} nog inkom.`,
  allIn: 'Almal is binne.',
  at: (time) => `Teen dié tempo is almal om ${time} binne.`,
  never: 'Te min mense kom nou in om te sê wanneer almal binne is.',
};

export const attention: Messages['attention'] = {
  title: 'Vra aandag',
  nothing: 'Niks vra aandag nie.',
  nearly: (name) => `${name} is amper vol`,
  full: (name) => `${name} is vol`,
  event: 'Die geleentheid',
  alerts: (count) => few(count, 'oop waarskuwing', 'oop waarskuwings'),
  critical: (count) => `${count.toLocaleString('af-ZA')} kritiek`,
  conflicts: (count) => few(count, 'oop konflik', 'oop konflikte'),
  recoveries: (count) =>
    few(count, 'bondel ongeverifieerde skanderings', 'bondels ongeverifieerde skanderings'),
  look: 'Kyk daarna in die werktoue',
};

export const manifest: Messages['manifest'] = {
  title: 'Kaartjielys vir wanneer daar geen netwerk is nie',
  none: 'Nog geen kaartjielys is gemaak nie',
  noneText: 'Dit word gemaak wanneer die eerste toestel daarvoor vra.',
  version: 'Weergawe',
  tickets: 'Kaartjies daarin',
  made: 'Gemaak',
  checked: 'Laas reg bevind',
  size: 'Grootte',
  sizes: (size, onTheWay) => `${size}, onderweg ${onTheWay}`,
  kilobytes: (count) => `${count} kB`,
  who: 'Watter toestel het watter weergawe',
  has: (version) => `Weergawe ${version}`,
  newest: 'nuutste',
  neverSaid: 'Nooit gesê nie',
  behind: (count) =>
    count === 1 ? '1 toestel is agter' : `${count.toLocaleString('af-ZA')} toestelle is agter`,
  allHave: 'Elke toestel het die nuutste een.',
};
