import { defineConfig } from 'vitest/config';
import { svelteWithRunes } from './vite.app.ts';

export default defineConfig({
  plugins: [svelteWithRunes()],
  // Without it the state classes would run as Svelte's server build, where nothing reacts.
  resolve: { conditions: ['browser'] },
  test: { include: ['{packages,apps}/*/src/**/*.test.ts'] },
});
