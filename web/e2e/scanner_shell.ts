import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));

/** Files of the app that a start needed, as they are called in dist/. */
export async function loadedFiles(page: Page): Promise<string[]> {
  const names = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
  );
  return ['/scanner/index.html', ...names.filter((name) => name.startsWith('/scanner/'))];
}

/** Compressed. The shell is what a first start fetches without the decoder. */
export function shellSizes(files: readonly string[]) {
  const isWasm = (name: string) => name.endsWith('.wasm');
  const all = readdirSync(join(DIST, 'scanner'), { recursive: true, withFileTypes: true })
    // Without what the build has compressed already, which is the same files once more.
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.br'))
    .map((entry) => join(entry.parentPath, entry.name).slice(DIST.length));
  const shell_gzip_bytes = gzipBytes(files.filter((name) => !isWasm(name)));
  const wasm_gzip_bytes = gzipBytes(all.filter(isWasm));
  const all_without_wasm_gzip_bytes = gzipBytes(all) - wasm_gzip_bytes;
  return { shell_gzip_bytes, wasm_gzip_bytes, all_without_wasm_gzip_bytes };
}

function gzipBytes(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + gzipSync(readFileSync(join(DIST, name))).length, 0);
}
