import type { Language } from './languages.ts';

/** Every text of a language by its place, with functions called with some numbers or words. */
function texts(node: unknown, place = ''): Map<string, string> {
  if (typeof node === 'string') return new Map([[place, node]]);
  if (typeof node === 'function') {
    return new Map([[place, String((node as (...given: unknown[]) => string)(2, 3, 4))]]);
  }
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(node as object)) {
    for (const [at, text] of texts(value, `${place}.${key}`)) found.set(at, text);
  }
  return found;
}

/** The places where one language says nothing, or both say the same, but for those given. */
export function untranslated(
  words: Record<Language, unknown>,
  same: readonly string[] = [],
): string[] {
  const english = texts(words.en);
  const afrikaans = texts(words.af);
  const places = new Set([...english.keys(), ...afrikaans.keys()]);
  return [...places].filter((place) => {
    const [one, other] = [english.get(place), afrikaans.get(place)];
    return !same.includes(place) && (!one || !other || one === other);
  });
}
