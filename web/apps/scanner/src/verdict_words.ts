import type { Light, LoggedScan, ScanAnswer, Unverified } from '@voelgoed/device';
import type { Moment } from '@voelgoed/rules';
import { sinceText, timeText } from './format.ts';
import type { Messages } from './messages/index.ts';
import { troubleText } from './troubles.ts';
import { lightOf, type Verdict } from './verdict.svelte.ts';

const MINUTE_US = 60_000_000;

/** Everything that a verdict says in words, the largest first. */
export interface VerdictWords {
  word: string;
  headline: string | null;
  /** When and where it was scanned before, when the person left, and which entry it is. */
  details: string[];
  /** Under which conditions it was decided. */
  marks: string[];
}

export function verdictWords(words: Messages, verdict: Verdict): VerdictWords {
  if (verdict.kind === 'problem') {
    const trouble = troubleText(words, verdict.problem);
    const details = [trouble.todo];
    return {
      word: words.verdict.stop,
      headline: trouble.what,
      details,
      marks: [words.verdict.failed],
    };
  }
  const { answer, isPractice } = verdict;
  const light = lightOf(verdict);
  return {
    word: wordOf(words, answer, light),
    headline: headlineOf(words, answer, light),
    details: [...entryDetails(words, answer), ...lastScan(words, answer)],
    marks: marksOf(words, answer, isPractice),
  };
}

function wordOf(words: Messages, answer: ScanAnswer, light: Light): string {
  if (light === 'red') return words.verdict.stop;
  if (answer.direction === 'exit') return words.verdict.leave;
  return isReentry(answer) ? words.verdict.back : words.verdict.enter;
}

function headlineOf(words: Messages, answer: ScanAnswer, light: Light): string | null {
  if (light !== 'red') return null;
  if (answer.reason === 'already_scanned' && answer.may_return_at !== null) {
    return words.verdict.tooEarly;
  }
  if (answer.reason) return words.reasons[answer.reason];
  if (answer.why === 'online' || answer.why === 'offline') return words.outcomes[answer.outcome];
  return words.verdict.undecided[answer.why];
}

export function isReentry(answer: ScanAnswer): boolean {
  return answer.direction === 'entry' && (answer.entry_number ?? 1) > 1;
}

function entryDetails(words: Messages, answer: ScanAnswer): string[] {
  return isReentry(answer) ? [words.verdict.entryNumber(answer.entry_number ?? 1)] : [];
}

/** Only for denials: an admitted person need not read when they last came in. */
function lastScan(words: Messages, answer: ScanAnswer): string[] {
  if (answer.left_at !== null) return lastExit(words, answer, answer.left_at);
  const { last_scanned_at: at, last_gate: gate } = answer.shown;
  if (at === null || answer.colour !== 'red') return [];
  const when = words.verdict.lastScanned(
    timeText(words, at, answer.at),
    sinceText(words, at, answer.at),
  );
  return gate === null ? [when] : [when, words.verdict.lastGate(gate)];
}

/** When somebody left says more than when they came, and when they may return says what to do. */
function lastExit(words: Messages, { at, may_return_at }: ScanAnswer, leftAt: Moment): string[] {
  const left = words.verdict.left(timeText(words, leftAt, at));
  if (may_return_at === null) return [left];
  // Whoever returns at the minute that is shown must be let in.
  const minute = Math.ceil(may_return_at / MINUTE_US) * MINUTE_US;
  return [left, words.verdict.mayReturn(timeText(words, minute, at))];
}

function marksOf(words: Messages, answer: ScanAnswer, isPractice: boolean): string[] {
  if (isPractice) return [words.verdict.practice];
  if (answer.is_unkept) return [words.verdict.unkept];
  if (answer.why === 'online') return [];
  return [answer.colour === 'yellow' ? words.verdict.storedLater : words.verdict.offline];
}

const NO_BREAK_HYPHEN = '\u2011';

/** The server writes notes in English: the parts of them that are known are said in other words. */
export function noteText(words: Messages, note: string): string {
  const said = Object.entries(words.notes).reduce(
    (text, [english, other]) => text.replaceAll(english, other),
    note,
  );
  // A seat's label that ends in the next line is another seat's.
  return said.replace(/(?<=\w)-(?=\w)/g, NO_BREAK_HYPHEN);
}

/** What became of a scan, in a line of a list. */
export function loggedText(words: Messages, scan: LoggedScan): string {
  if (scan.outcome !== 'valid') {
    return scan.reason ? words.reasons[scan.reason] : words.outcomes[scan.outcome];
  }
  return scan.direction === 'exit' ? words.scan.exit : words.scan.entry;
}

/** How many scans somebody has to review, by the reason. */
export function unverifiedTexts(words: Messages, unverified: Unverified[]): string[] {
  const counts = new Map<string, number>();
  for (const { reason } of unverified) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const causes: Record<string, string> = words.queue.unverifiedCauses;
  return [...counts].map(([reason, count]) =>
    [words.queue.unverified(count), causes[reason]].filter(Boolean).join(', '),
  );
}

/** What is said in the words of another. */
const SAID_AS = {
  'made for another organisation': 'another_organization',
  batch_malformed: 'unreadable',
} as const;

/** As a device keeps it: a code alone, or a code and what the server said, `code: sentence`. */
export function syncErrorText(words: Messages, error: string): string {
  const [first = ''] = error.split(': ', 1);
  const code = SAID_AS[first as keyof typeof SAID_AS] ?? first;
  const known = words.syncErrors[code as keyof Messages['syncErrors']];
  if (typeof known === 'string') return known;
  const reason = words.reasons[code as keyof Messages['reasons']];
  return reason ?? words.syncErrors.other(error);
}
