import { fileURLToPath } from 'node:url';

/** Where a picture of the guides goes: there with `npm run pictures`, else to what a run leaves behind. */
export function picturePath(name: string): string {
  const directory = process.env.E2E_PICTURES ? '../../docs/pictures' : '../test-results/pictures';
  return fileURLToPath(new URL(`${directory}/${name}.png`, import.meta.url));
}
