/** How old what a device decides by is. */
import { MICROSECONDS_PER_MS } from './clock.ts';
import type { Core } from './core.ts';
import type { ManifestInfo } from './model.ts';

/** After so long without a word from the server, somebody should know. */
const UNHEARD_MS_MAX = 30 * 60 * 1_000;

export function manifestInfo(core: Core): ManifestInfo | null {
  if (core.register === null) return null;
  const { manifest, generatedAt, expiresAt } = core.register;
  const now = core.now();
  const unheardMs = (now - (core.confirmedAt ?? generatedAt)) / MICROSECONDS_PER_MS;
  const newest = core.station?.manifest_version ?? manifest.manifest_version;
  return {
    version: manifest.manifest_version,
    event_name: manifest.event_name,
    tickets: manifest.tickets.length,
    generated_at: generatedAt,
    expires_at: expiresAt,
    age_ms: (now - generatedAt) / MICROSECONDS_PER_MS,
    is_stale: newest !== manifest.manifest_version || unheardMs > UNHEARD_MS_MAX,
    is_expired: now > expiresAt,
  };
}
