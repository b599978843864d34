import { createContext } from 'svelte';
import type { Scanner } from './scanner.svelte.ts';

/** The app's parts, for every page and component below `App`. */
export const [useScanner, provideScanner] = createContext<Scanner>();
