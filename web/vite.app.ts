import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

const COMPRESSED = /\.(js|css|svg|wasm)$/;

export const svelteWithRunes = () =>
  svelte({ configFile: false, compilerOptions: { runes: true } });

/** The build of one app: written to `dist/<name>/`, served under `base`. */
export function appConfig(name: string, base = `/${name}/`): UserConfig {
  return defineConfig({
    base,
    plugins: [svelteWithRunes(), compressed()],
    build: {
      outDir: fileURLToPath(new URL(`./dist/${name}/`, import.meta.url)),
      emptyOutDir: true,
      // The Content-Security-Policy allows files, and no styles or scripts inside the page.
      assetsInlineLimit: 0,
    },
  });
}

/** Of each file that never changes, in `packed/`: what the server sends to who takes Brotli. */
function compressed(): Plugin {
  let assets = '';
  let packed = '';
  return {
    name: 'voelgoed-compressed',
    apply: 'build',
    configResolved(config) {
      assets = join(config.build.outDir, config.build.assetsDir);
      packed = join(config.build.outDir, 'packed');
    },
    closeBundle() {
      mkdirSync(packed, { recursive: true });
      for (const name of readdirSync(assets).filter((each) => COMPRESSED.test(each))) {
        const content = readFileSync(join(assets, name));
        writeFileSync(join(packed, `${name}.br`), brotliCompressSync(content));
      }
    },
  };
}
