import type { MapMark } from '@voelgoed/seat-map';
import type { Drawable, Place } from './drawable.ts';

export interface GivenFault {
  path: string;
  message: string;
  /** Of a layout that was written line by line. */
  line?: number;
}

/** A fault as the list has it, with the number that stands on its mark. */
export interface Finding {
  number: number;
  line: number | undefined;
  path: string;
  message: string;
  place: Place | undefined;
  /** The key of its mark; undefined if it is nowhere on the drawing. */
  mark: string | undefined;
}

export interface Findings {
  list: Finding[];
  marks: MapMark[];
}

const PATHS = /\$\.zones\[\d+\](?:\.seats\[\d+\])?/g;

/** Every fault numbered, and marked wherever it or what it speaks of can be drawn. */
export function findingsOf(
  faults: readonly GivenFault[],
  { place }: Drawable,
  nameOf: (numbers: readonly number[], places: readonly Place[]) => string,
): Findings {
  const marked = new Map<string, { places: Place[]; numbers: number[] }>();
  const mark = (number: number, at: Place | undefined): string | undefined => {
    if (!at?.box) return undefined;
    const { x, y, width } = at.box;
    const key = `${x} ${y} ${width}`;
    const there = marked.get(key) ?? { places: [], numbers: [] };
    marked.set(key, there);
    if (!there.places.some(({ name }) => name === at.name)) there.places.push(at);
    if (!there.numbers.includes(number)) there.numbers.push(number);
    return key;
  };
  const list = faults.map(({ path, message, line }, index): Finding => {
    const number = index + 1;
    const at = place(path);
    // The other one of two that collide is marked by the same number.
    const others = [...message.matchAll(PATHS)].map(([named]) => mark(number, place(named)));
    return {
      number,
      line,
      path,
      message,
      place: at,
      mark: mark(number, at) ?? others.find(Boolean),
    };
  });
  const marks = [...marked].map(([key, { places, numbers }]): MapMark => {
    const sign = numbers.length > 2 ? `${numbers[0]}…` : numbers.join(', ');
    return { key, sign, name: nameOf(numbers, places), look: 'fault', box: places[0]!.box! };
  });
  return { list, marks };
}
