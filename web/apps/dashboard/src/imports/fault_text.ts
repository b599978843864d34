import type { ImportFault } from '@voelgoed/api';
import type { Language } from '@voelgoed/ui';
import { faultWords } from '../messages/af_import_faults.ts';
import type { Messages } from '../messages/index.ts';

type Words = Messages['imports'];

/** The columns are called as the file must call them; all else has a word. */
export function fieldText({ fields }: Words, field: ImportFault['field']): string {
  return field in fields ? fields[field as keyof typeof fields] : field;
}

/** The server's English needs no other words, and what we have no words for is told in it. */
export function faultText(language: Language, message: string): string {
  for (const [pattern, say] of language === 'af' ? faultWords : []) {
    const found = pattern.exec(message);
    if (found) return say(...found.slice(1));
  }
  return message;
}
