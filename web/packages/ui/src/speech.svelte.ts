import type { ApiError } from '@voelgoed/api';
import { isLanguage, offeredLanguage, type Language } from './languages.ts';
import type { Memory } from './memory.ts';
import { SHELL_WORDS, type ShellWords } from './messages/index.ts';
import { faults as afFaults } from './messages/af_faults.ts';
import { problems as afProblems } from './messages/af_problems.ts';
import { faults as enFaults } from './messages/en_faults.ts';
import { problems as enProblems } from './messages/en_problems.ts';

/** One for all apps of a browser: who reads Afrikaans at the box office does so on the dashboard. */
const KEY = 'voelgoed.language';

const PROBLEMS = { en: enProblems, af: afProblems };
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
  problem(error: Pick<ApiError, 'code' | 'message'>): string {
    return PROBLEMS[this.language][error.code] ?? error.message;
  }

  /** What is wrong with a field; what we have no words for is told in the server's. */
  fault(message: string | undefined): string | undefined {
    if (message === undefined) return undefined;
    for (const [pattern, say] of FAULTS[this.language]) {
      const found = pattern.exec(message);
      if (found) return say(...found.slice(1));
    }
    return message;
  }
}
