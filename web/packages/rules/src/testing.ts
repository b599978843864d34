/** The cases by which both twins are tested, and random numbers that are the same every time. */

const files = import.meta.glob<string>(
  ['../../../../contracts/*.json', '!../../../../contracts/openapi.json'],
  { query: '?raw', import: 'default', eager: true },
);

export type Contract = Record<string, unknown>;

export const contracts: ReadonlyMap<string, Contract> = new Map(
  Object.entries(files).map(([path, text]) => [
    path.slice(path.lastIndexOf('/') + 1, -'.json'.length),
    JSON.parse(text) as Contract,
  ]),
);

/** A part of a contract that is no list of cases. */
export function partOf<T>(file: string, part: string): T {
  const found = contracts.get(file)?.[part];
  if (found === undefined) throw new Error(`contracts/${file}.json has no ${part}`);
  return found as T;
}

/** A list of cases, which has at least one. What no test asks for, contracts.test.ts finds. */
export function casesOf<T>(file: string, list: string): T[] {
  const cases = partOf<T[]>(file, list);
  if (cases.length === 0) throw new Error(`contracts/${file}.json has no case in ${list}`);
  return cases;
}

/** Numbers from 0 to below 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function below(random: () => number, most: number): number {
  return Math.floor(random() * most);
}

export function everyOrderOf<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, place) =>
    everyOrderOf(items.toSpliced(place, 1)).map((rest) => [first, ...rest]),
  );
}
