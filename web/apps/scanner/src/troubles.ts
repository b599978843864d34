import { DeviceFault, ForgedManifest, KeyRefused, Refused } from '@voelgoed/device';
import { LANGUAGES, type Messages, type Trouble, type TroubleCode } from './messages/index.ts';

const FORGERIES = {
  signature: 'forged_manifest',
  another_event: 'manifest_of_another_event',
  older: 'manifest_too_old',
} as const;

const RESTARTS: readonly TroubleCode[] = [
  'unreadable_manifest',
  'state_lost',
  'decoder_broken',
  'unexpected',
];

/** What went wrong, for translation; `said` is what the server said of something nobody foresaw. */
export interface Problem {
  code: TroubleCode;
  said: string | null;
}

export function problem(code: TroubleCode): Problem {
  return { code, said: null };
}

export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof ForgedManifest) return problem(FORGERIES[thrown.kind]);
  if (thrown instanceof Refused) {
    return isTrouble(thrown.refusal)
      ? problem(thrown.refusal)
      : { code: 'refused', said: thrown.message };
  }
  if (thrown instanceof KeyRefused && thrown.trouble === 'inactive') return problem('inactive');
  if (thrown instanceof DeviceFault) return problem(thrown.code);
  return { code: 'unexpected', said: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** The reason of a sync that left something behind. */
export function problemOfReason(reason: string): Problem {
  return isTrouble(reason) ? problem(reason) : { code: 'refused', said: reason };
}

/** Whether a restart of the app may help. */
export function mayRestartHelp(found: Problem): boolean {
  return RESTARTS.includes(found.code);
}

export function troubleText(words: Messages, found: Problem): Trouble {
  const trouble = words.troubles[found.code];
  return found.said === null
    ? trouble
    : { ...trouble, what: `${trouble.what} ${words.syncErrors.other(found.said)}` };
}

function isTrouble(code: string): code is TroubleCode {
  return Object.hasOwn(LANGUAGES.en.troubles, code);
}
