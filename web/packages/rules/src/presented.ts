/** What somebody holds before a scanner, or types. */

import { PREFIX } from './barcode.ts';
import { readCode } from './codes.ts';

/** Characters. A barcode has many more. */
const TYPED_MAX = 20;
const UNITS_PER_CHARACTER_MAX = 2;
const BARCODE = new RegExp(`^${PREFIX}([A-Z0-9]{4})([A-Z0-9]{4})([A-Z0-9]{4})`);

export interface Presented {
  text: string;
  code: string;
  isTyped: boolean;
}

/** Null where the text is no code and no barcode of ours, of whatever organisation. */
export function readPresented(text: string): Presented | null {
  if (isShort(text)) {
    const code = readCode(text);
    return code === null ? null : { text, code, isTyped: true };
  }
  const found = BARCODE.exec(text);
  return found && { text, code: found.slice(1).join('-'), isTyped: false };
}

function isShort(text: string): boolean {
  return text.length <= TYPED_MAX * UNITS_PER_CHARACTER_MAX && [...text].length <= TYPED_MAX;
}
