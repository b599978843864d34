/**
 * Its first so many characters, as the server counts them. Cut by JavaScript's own count, the last one
 * may be half a character, and with that in it no server reads the body.
 */
export function firstOf(text: string, most: number): string {
  const units = text.slice(0, 2 * most); // no character has more than two
  return Array.from(units).slice(0, most).join('');
}
