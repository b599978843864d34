import type { FleetDevice, ManifestStatus } from '@voelgoed/api';

export interface VersionHolders {
  /** Null: they never said. */
  version: number | null;
  isNewest: boolean;
  names: string[];
}

/** Which devices have which version of the ticket list, the newest first. */
export function versionsHeld(devices: FleetDevice[], newest: number | null): VersionHolders[] {
  const names = new Map<number | null, string[]>();
  for (const { manifest_version, name, is_revoked } of devices) {
    if (is_revoked) continue;
    names.set(manifest_version, [...(names.get(manifest_version) ?? []), name]);
  }
  return [...names]
    .sort(([one], [other]) => (other ?? -1) - (one ?? -1))
    .map(([version, held]) => ({ version, isNewest: version === newest, names: held.sort() }));
}

/** How many would decide by an old list, or have none, if the network went now. */
export function behind(held: VersionHolders[], { manifest_version }: ManifestStatus): number {
  if (manifest_version === null) return 0;
  return held
    .filter(({ version }) => version === null || version < manifest_version)
    .reduce((sum, { names }) => sum + names.length, 0);
}
