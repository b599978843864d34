import { fileURLToPath } from 'node:url';

/** Where a picture of the guides is kept. */
export function picturePath(name: string): string {
  return fileURLToPath(new URL(`../../docs/pictures/${name}.png`, import.meta.url));
}
