/** The name of the built file has a hash of its content: another name is another version of the app. */
export function versionOf(url: string): string {
  return /-([\w-]{8})\.js$/.exec(new URL(url).pathname)?.[1] ?? 'dev';
}

export const APP_VERSION = versionOf(import.meta.url);
