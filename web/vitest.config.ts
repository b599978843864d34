import { defineConfig } from 'vitest/config';
import { svelteWithRunes } from './vite.app.ts';

const SLOW_MS_MAX = 60_000;

export default defineConfig({
  plugins: [svelteWithRunes()],
  // Without it the state classes would run as Svelte's server build, where nothing reacts.
  resolve: { conditions: ['browser'] },
  test: {
    include: ['{packages,apps}/*/src/**/*.test.ts'],
    // Files share their modules: to load them anew for each takes twice as long as all tests.
    isolate: false,
    // A busy machine is slow, which is no fault of the sources: only what hangs is to be ended.
    testTimeout: SLOW_MS_MAX,
    hookTimeout: SLOW_MS_MAX,
  },
});
