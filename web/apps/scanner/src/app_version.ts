/** The name of the built file has a hash of its content: whoever has another one has another app. */
export function versionOf(url: string): string {
  return /-([\w-]{8})\.js$/.exec(new URL(url).pathname)?.[1] ?? 'dev';
}

export const APP_VERSION = versionOf(import.meta.url);
