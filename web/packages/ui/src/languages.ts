export const LANGUAGE_NAMES = { en: 'English', af: 'Afrikaans' } as const;

export type Language = keyof typeof LANGUAGE_NAMES;

/** The first of the languages somebody reads that we speak. */
export function offeredLanguage(preferred: readonly string[]): Language {
  const spoken = preferred.map((tag) => tag.toLowerCase().split('-')[0]);
  return spoken.find(isLanguage) ?? 'en';
}

export function isLanguage(text: unknown): text is Language {
  return typeof text === 'string' && Object.hasOwn(LANGUAGE_NAMES, text);
}
