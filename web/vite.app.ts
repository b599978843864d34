import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type UserConfig } from 'vite';

export const svelteWithRunes = () =>
  svelte({ configFile: false, compilerOptions: { runes: true } });

/** The build of one app: written to `dist/<name>/`, served under `base`. */
export function appConfig(name: string, base = `/${name}/`): UserConfig {
  return defineConfig({
    base,
    plugins: [svelteWithRunes()],
    build: {
      outDir: fileURLToPath(new URL(`./dist/${name}/`, import.meta.url)),
      emptyOutDir: true,
      // The Content-Security-Policy allows files, and no styles or scripts inside the page.
      assetsInlineLimit: 0,
    },
  });
}
