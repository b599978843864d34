import { createContext } from 'svelte';
import type { Speech } from './speech.svelte.ts';

/** The app's speech, for every component of this package below `AppShell`. */
export const [useSpeech, provideSpeech] = createContext<Speech>();
