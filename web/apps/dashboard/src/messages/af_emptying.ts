import type { Messages } from './en.ts';

export const emptying: Messages['emptying'] = {
  declare: 'Verklaar leeg',
  title: 'Verklaar die lokaal leeg?',
  text: 'Almal wat tot nou toe ingekom het, tel nie meer as binne nie. Dit kan nie ongedaan gemaak word nie.',
  reason: 'Rede',
  hint: 'Word in die ouditlog bewaar.',
  missing: 'Gee ’n rede.',
  failed: 'Die lokaal is nie leeg verklaar nie',
  by: (who, when) => `Leeg verklaar deur ${who}, ${when}`,
  at: (when) => `Leeg verklaar ${when}`,
};
