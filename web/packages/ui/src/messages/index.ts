import type { Language } from '../languages.ts';
import { af } from './af.ts';
import { en, type ShellWords } from './en.ts';

export type { ShellWords } from './en.ts';

export const SHELL_WORDS: Record<Language, ShellWords> = { en, af };
