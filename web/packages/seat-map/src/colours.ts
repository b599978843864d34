/** Available seats of a house have at most so many colours, one for each price. */
export const PRICE_COLOURS = 6;

const NAMES = [
  'page',
  'ink',
  'line',
  'area',
  'held',
  'taken',
  'kept',
  'own',
  'chosen',
  'fault',
  'added',
  'removed',
  'moved',
  'changed',
] as const;

export type Colours = Record<(typeof NAMES)[number], string> & { prices: string[] };

/** The colours of `colours.css` as this page has them now, in light or in dark. */
export function readColours(element: HTMLElement): Colours {
  const read = (name: string): string => {
    element.style.color = `var(--seat-${name})`;
    return getComputedStyle(element).color;
  };
  const named = Object.fromEntries(NAMES.map((name) => [name, read(name)]));
  const prices = Array.from({ length: PRICE_COLOURS }, (_, index) => read(`price-${index}`));
  element.style.color = '';
  return { ...(named as Omit<Colours, 'prices'>), prices };
}
