import type { Language } from '@voelgoed/ui';
import { af } from './af.ts';
import { en, type Messages } from './en.ts';

export type { Messages } from './en.ts';
export type { Trouble, TroubleCode } from './en_troubles.ts';

export const LANGUAGES: Record<Language, Messages> = { en, af };
