import type { imports as Imports } from './en_imports.ts';
import { fewIn } from './few.ts';

const few = fewIn('af-ZA');

export const imports: typeof Imports = {
  title: 'Voer kaartjies in',
  text: 'Kaartjies wat elders verkoop is, as ’n CSV-lêer in UTF-8. Sy eerste reël noem die kolomme: altyd type, en van code, zone, seat, reference, name, email, days en price_minor dié wat jy het.',
  needs:
    'Elke reël het ’n kode, ’n sitplek of ’n verwysing nodig: daaraan word dit herken wanneer die lêer weer ingevoer word. Waar kaartjies geen sitplek het nie, het dit ook ’n sone nodig.',
  again: 'Dieselfde lêer kan weer ingevoer word: wat reeds daar is, bly soos dit is.',
  file: 'CSV-lêer',
  fileMissing: 'Kies ’n lêer.',
  trial: 'Probeer net: sê wat sou gebeur, en verander niks',
  start: 'Voer in',
  refused: 'Die lêer is nie aanvaar nie',
  reading: 'Lees die invoere',
  failed: 'Die invoere kon nie gelees word nie',
  list: 'Invoere',
  none: 'Nog niks is ingevoer nie',
  noneText: 'Elke invoer verskyn hier, met hoe ver dit is en wat met sy reëls verkeerd was.',
  status: {
    receiving: 'Kom aan',
    waiting: 'Wag',
    running: 'Aan die gang',
    done: 'Klaar',
    failed: 'Misluk',
  },
  isTrial: 'Probeerslag',
  progress: (read, total) => `${read} van ${total} reëls`,
  lines: (count) => few(count, 'reël', 'reëls'),
  created: (count) => `${few(count, 'kaartjie', 'kaartjies')} nuut`,
  unchanged: (count) => `${count} reeds daar`,
  faulty: (count) => few(count, 'reël met foute', 'reëls met foute'),
  showFaults: 'Wys die foute',
  faultsFailed: 'Die foute kon nie gelees word nie',
  hideFaults: 'Versteek die foute',
  download: 'Laai die foute as CSV af',
  line: 'Reël',
  column: 'Kolom',
  fault: 'Fout',
  fields: { file: 'Lêer', header: 'Name van die kolomme', line: 'Reël' },
};
