import { fewIn } from './few.ts';

const few = fewIn('en-ZA');

export const imports = {
  title: 'Import tickets',
  text: 'Tickets that were sold elsewhere, as a CSV file in UTF-8. Its first line names the columns: type always, and of code, zone, seat, reference, name, email, days and price_minor those that you have.',
  needs:
    'Every line needs a code, or a seat, or a reference: by that it is known when the file is imported again. Where tickets have no seat, it needs a zone as well.',
  again: 'The same file can be imported again: what is there already stays as it is.',
  file: 'CSV file',
  fileMissing: 'Choose a file.',
  trial: 'Only try: say what would happen, and change nothing',
  start: 'Import',
  refused: 'The file was not taken',
  reading: 'Reading the imports',
  failed: 'The imports could not be read',
  list: 'Imports',
  none: 'Nothing was imported yet',
  noneText: 'Each import appears here with how far it is and what was wrong with its lines.',
  status: {
    receiving: 'Arriving',
    waiting: 'Waiting',
    running: 'Running',
    done: 'Done',
    failed: 'Failed',
  },
  isTrial: 'Trial',
  progress: (read: string, total: string) => `${read} of ${total} lines`,
  lines: (count: number) => few(count, 'line', 'lines'),
  created: (count: number) => `${few(count, 'ticket', 'tickets')} new`,
  unchanged: (count: number) => `${count} there already`,
  faulty: (count: number) => few(count, 'line with faults', 'lines with faults'),
  showFaults: 'Show the faults',
  faultsFailed: 'The faults could not be read',
  hideFaults: 'Hide the faults',
  download: 'Download the faults as CSV',
  line: 'Line',
  column: 'Column',
  fault: 'Fault',
  fields: { file: 'File', header: 'Names of the columns', line: 'Line' },
};
