export type LayoutForm = 'json' | 'text' | 'csv';

/** What the server takes at most. */
export const LAYOUT_BYTES_MAX = 24 * 1024 * 1024;

const SUFFIXES: Record<string, LayoutForm> = {
  json: 'json',
  csv: 'csv',
  layout: 'text',
  txt: 'text',
};

/** By the file's name, or else by how it begins. */
export function formOf(fileName: string, text: string): LayoutForm {
  const named = SUFFIXES[fileName.split('.').at(-1)!.toLowerCase()];
  if (named && fileName.includes('.')) return named;
  const first = text.slice(0, 2_000).trimStart().toLowerCase();
  if (/^[{["]/.test(first) && !first.startsWith('"kind')) return 'json';
  return /^(kind|"kind|sep=)/.test(first) ? 'csv' : 'text';
}

/** The text of a file; undefined if it is no UTF-8. */
export async function readUtf8(file: Blob): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return undefined;
  }
}
