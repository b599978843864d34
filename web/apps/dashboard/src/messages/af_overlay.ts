import type { overlay as Overlay } from './en_overlay.ts';
import { fewIn } from './few.ts';

const few = fewIn('af-ZA');

export const overlay: typeof Overlay = {
  reading: 'Lees die uitleg van hierdie geleentheid',
  failed: 'Die uitleg van hierdie geleentheid kon nie gelees word nie',
  none: 'Hierdie geleentheid het nog geen uitleg nie',
  noneText: 'Kies ’n uitleg van sy lokaal, en sones en sitplekke verskyn hier.',
  noChoices: 'Sy lokaal het geen aktiewe uitleg nie',
  noChoicesText: 'Voer eers een in en aktiveer dit.',
  toVenue: 'Uitlegte van die lokaal',
  layout: 'Uitleg',
  use: 'Gebruik hierdie uitleg',
  useTitle: 'Gebruik ’n ander uitleg?',
  useText:
    'Wat hierdie geleentheid anders doen met sy uitleg, word vergeet: geslote sones, en sitplekke wat sy uitleg blokkeer. Sitplekke wat met die hand geblokkeer is, bly geblokkeer waar hulle bestaan.',
  current: (name, version) => `${name}, weergawe ${version}`,
  archived: 'Hierdie weergawe is geargiveer. Die geleentheid behou dit.',
  refused: 'Die uitleg is nie verander nie',
  frozen:
    'Kaartjies is verkoop, dus bly die uitleg soos dit is. Sitplekke kan steeds hieronder geblokkeer en teruggesit word.',
  held: 'Iemand hou nou sitplekke, dus kan die uitleg nie verander nie. Probeer weer wanneer hulle klaar is; sitplekke kan intussen geblokkeer word.',
  conflict:
    'Iemand anders het dit intussen verander. Dit is wat hulle daarvan gemaak het; probeer weer.',
  seats: 'Sitplekke',
  click: '’n Klik kies',
  choosing: { seat: 'een sitplek', row: '’n ry', frame: 'alles in ’n raam' },
  frameHint: 'Trek ’n raam oor die sitplekke. Die knoppies op die kaart skuif dit steeds.',
  chosen: (count) => `${few(count, 'sitplek', 'sitplekke')} gekies`,
  noneChosen: 'Kies sitplekke op die kaart of in die lys om hulle te blokkeer of terug te sit.',
  which: 'Watter',
  andMore: (count) => `en nog ${count}`,
  letGo: 'Laat los',
  reason: 'Rede',
  reasonHint: 'Word in die ouditlog bewaar',
  reasonMissing: 'Sê waarom.',
  block: (count) => `Blokkeer ${few(count, 'sitplek', 'sitplekke')}`,
  unblock: (count) => `Sit ${few(count, 'sitplek', 'sitplekke')} terug`,
  blockRefused: 'Die sitplekke is nie verander nie',
  byLayout:
    'Die uitleg van hierdie geleentheid blokkeer hierdie sitplekke. Haal hulle eerder uit sy geblokkeerde sitplekke.',
  blocked: (count) => `${few(count, 'sitplek is', 'sitplekke is')} geblokkeer.`,
  lifted: (count) => `${few(count, 'sitplek is', 'sitplekke is')} terug.`,
  takenTitle: (count) =>
    count === 1
      ? 'Een sitplek word gehou of is verkoop'
      : `${count} sitplekke word gehou of is verkoop`,
  takenText: (seats) =>
    `${seats}. Wie ’n sitplek hou, verloor dit. Wie een gekoop het, behou die kaartjie: praat met hulle. Blokkeer hulle nogtans?`,
  takenAction: 'Blokkeer hulle nogtans',
  inLayout: 'In die uitleg self',
  inLayoutText:
    'Sitplekke wat hierdie geleentheid nooit aanbied nie. Anders as ’n blokkering met die hand het dit geen rede nodig nie, en kan dit nie verander sodra kaartjies verkoop is nie.',
  inLayoutNow: (count) =>
    `${few(count, 'sitplek word', 'sitplekke word')} deur die uitleg geblokkeer.`,
  addToLayout: 'Blokkeer die gekose sitplekke in die uitleg',
  takeFromLayout: 'Haal die gekose sitplekke uit',
  zones: 'Sones van hierdie geleentheid',
  zonesText: '’n Geslote sone word aan niemand aangebied nie.',
  open: (name) => `${name} is oop`,
  pricing: 'het ’n prys van sy eie',
  free: 'Vry',
  zoneFacts: (kind, places, who) => `${kind} · ${places} · ${who}`,
};
