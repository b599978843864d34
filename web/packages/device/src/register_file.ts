/** The manifest as it is kept, and as it is looked up in. */
import { readManifest, Register } from '@voelgoed/rules';
import type { KeptManifest } from './kept.ts';

/** It was verified before it was stored. A manifest that cannot be read any more is fetched again. */
export function loadedRegister(kept: KeptManifest): Register | null {
  try {
    return new Register(readManifest(kept.document), kept.code_key);
  } catch {
    return null;
  }
}
