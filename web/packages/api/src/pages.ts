const PAGES_MAX = 50;

export interface Page<T> {
  data: T[];
  next?: string | null;
}

/** Reads a list to its end, for lists that are short by nature (gates, venues). */
export async function everyPage<T>(read: (after?: string) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let after: string | undefined;
  for (let count = 0; count < PAGES_MAX; count++) {
    const page = await read(after);
    items.push(...page.data);
    if (!page.next) break;
    after = page.next;
  }
  return items;
}
