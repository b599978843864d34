import { isLanguage, offeredLanguage, type Language } from './languages.ts';
import type { Memory } from './memory.ts';
import { SHELL_WORDS, type ShellWords } from './messages/index.ts';
import { faults as afFaults } from './messages/af_faults.ts';
import { problems as afProblems } from './messages/af_problems.ts';
import { reasons as afReasons, told as afTold } from './messages/af_reasons.ts';
import { faults as enFaults } from './messages/en_faults.ts';
import { problems as enProblems } from './messages/en_problems.ts';
import type { FaultWords } from './messages/en_faults.ts';
import type { ProblemWords, Refused } from './messages/problem_words.ts';

/** One for all apps of a browser: who reads Afrikaans at the box office does so on the dashboard. */
const KEY = 'voelgoed.language';

/** From the most that can be said of a refusal to the least. */
const PROBLEMS: Record<Language, { sentences: FaultWords; words: ProblemWords[] }> = {
  en: { sentences: [], words: [enProblems] },
  af: { sentences: afReasons, words: [afTold, afProblems] },
};
const FAULTS = { en: enFaults, af: afFaults };

/** The language somebody chose, or reads best, and an app's words in it. */
export class Speech<Words = unknown> {
  language = $state<Language>('en');
  readonly #memory: Memory;
  readonly #words: Record<Language, Words>;

  constructor(memory: Memory, preferred: readonly string[], words: Record<Language, Words>) {
    this.#memory = memory;
    this.#words = words;
    const kept = memory.recall(KEY);
    this.language = isLanguage(kept) ? kept : offeredLanguage(preferred);
  }

  get words(): Words {
    return this.#words[this.language];
  }

  /** Of what all apps have: logging in, the header, trying again. */
  get shell(): ShellWords {
    return SHELL_WORDS[this.language];
  }

  choose(language: Language): void {
    this.language = language;
    this.#memory.keep(KEY, language);
  }

  /** Why something did not work. The server explains itself in English. */
  problem(refused: Refused): string {
    const { sentences, words } = PROBLEMS[this.language];
    const said = matched(sentences, refused.message);
    if (said !== undefined) return said;
    for (const each of words) {
      const say = each[refused.code];
      const text = typeof say === 'function' ? say(refused) : say;
      if (text !== undefined) return text;
    }
    return refused.message;
  }

  /** What is wrong with a field; what we have no words for is told in the server's. */
  fault(message: string | undefined): string | undefined {
    if (message === undefined) return undefined;
    return matched(FAULTS[this.language], message) ?? message;
  }
}

/** The first that fits counts. */
function matched(words: FaultWords, message: string): string | undefined {
  for (const [pattern, say] of words) {
    const found = pattern.exec(message);
    if (found) return say(...found.slice(1));
  }
  return undefined;
}
