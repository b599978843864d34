/** A number with its noun, as the language writes numbers. */
export const fewIn =
  (locale: string) =>
  (count: number, one: string, many: string): string =>
    `${count.toLocaleString(locale)} ${count === 1 ? one : many}`;
