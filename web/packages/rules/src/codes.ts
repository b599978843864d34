/** Ticket codes as people read them out and type them. */

// What Python strips. JavaScript's own `trim` has another idea of blanks.
const BLANK = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const GROUP = '([A-Za-z0-9]{4})';
const CODE = new RegExp(`^${BLANK}*${GROUP}[- ]?${GROUP}[- ]?${GROUP}${BLANK}*$`);

/** As it is kept, or null. Case, blanks around and what stands between the groups do not matter; but
 * nothing is corrected, for codes that were sold elsewhere may have any letter. */
export function readCode(text: string): string | null {
  const found = CODE.exec(text);
  return found && found.slice(1).join('-').toUpperCase();
}
