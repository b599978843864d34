/**
 * Codes as people type them. The twin of voelgoed/ticketing/rules/codes.py, which corrects nothing
 * in a code: those of tickets sold elsewhere may have any letter. So look-alikes are proposed only.
 */
const SYMBOLS = /^[0-9A-HJKMNP-TV-Z]*$/;
const CODE = /^[A-Z0-9]{12}$/;
const CODE_SYMBOLS = 12;
const GROUP_SYMBOLS = 4;
/** Blanks, and the dashes and points that keyboards and printers put in place of ours. */
const BETWEEN = /[\s\-_.\u00ad\u2010-\u2015\u2212]+/g;
const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' };

/** The code with its dashes, or null where it is too short, too long or has other signs. */
export function readTyped(text: string): string | null {
  const symbols = symbolsOf(text);
  return CODE.test(symbols) ? dashed(symbols) : null;
}

/** What may be meant: first the code as typed, then with the look-alikes that ours never have. */
export function typedProposals(text: string): string[] {
  const code = readTyped(text);
  if (code === null) return [];
  const ours = code.replace(/[OIL]/g, (symbol) => LOOK_ALIKES[symbol] ?? symbol);
  return ours !== code && SYMBOLS.test(symbolsOf(ours)) ? [code, ours] : [code];
}

/** What the field shows while somebody types, and where the caret goes. */
export function formatTyped(text: string, caret: number): { text: string; caret: number } {
  const symbols = symbolsOf(text);
  // Something else than a code was pasted or typed, and is nobody's to change.
  if (symbols.length > CODE_SYMBOLS || !/^[A-Z0-9]*$/.test(symbols)) return { text, caret };
  const before = symbolsOf(text.slice(0, caret)).length;
  return { text: dashed(symbols), caret: before + dashesBefore(before) };
}

function symbolsOf(text: string): string {
  // Only ASCII is folded: other letters have capitals that are ASCII, as the long s has S.
  return text.replace(BETWEEN, '').replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

function dashed(symbols: string): string {
  return symbols.match(/.{1,4}/g)?.join('-') ?? '';
}

function dashesBefore(symbols: number): number {
  return Math.max(0, Math.ceil(symbols / GROUP_SYMBOLS) - 1);
}
