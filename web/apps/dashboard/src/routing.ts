import { ADDRESSES, type PageName } from './addresses.ts';

/** What the address gives a page, if it is the page's: `/events/:id` is `/events/7` with `id: '7'`. */
export function matched(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const parts: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    if (part.startsWith(':') && given[at]) parts[part.slice(1)] = given[at];
    else if (part !== given[at]) return undefined;
  }
  return parts;
}

/** Which page the address names, with what it gives the page. */
export function pageOf(
  path: string,
): { name: PageName; parts: Record<string, string> } | undefined {
  for (const name of Object.keys(ADDRESSES) as PageName[]) {
    const parts = matched(ADDRESSES[name].path, path);
    if (parts) return { name, parts };
  }
  return undefined;
}

/** The link to a page: `linkTo('live', id)` is `#/events/7/live`. */
export function linkTo(name: PageName, id = '', other = ''): string {
  return `#${ADDRESSES[name].path.replace(':id', id).replace(':other', other)}`;
}
