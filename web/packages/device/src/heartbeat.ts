/** A device says how it is, and does what the answer asks for. */
import { momentText } from '@voelgoed/rules';
import { MICROSECONDS_PER_MS } from './clock.ts';
import type { Core } from './core.ts';
import { APP_VERSION } from './core.ts';
import { confirm, hydrate } from './hydration.ts';
import { readStation } from './kept.ts';
import { ask } from './keys.ts';
import { require } from './link.ts';
import type { HeartbeatReport, Station } from './model.ts';
import { fits, shaped } from './shapes.ts';
import { STATE_AND_MANIFEST } from './store.ts';

const HEARTBEAT = '/api/scanning/heartbeat';

const readStationData = shaped<{ data: Station }>({ data: fits(readStation) });

export async function beat(core: Core, said: HeartbeatReport): Promise<void> {
  const station = await report(core, said);
  const newest = station.manifest_version;
  const known = core.register?.manifest.manifest_version;
  if (newest === null || station.event_id === null) return;
  // After a backup was restored the server counts on from an older one, and ours is nobody's any more.
  if (known !== newest) await hydrate(core);
  else await confirm(core);
}

/**
 * Runs before a delivery if the error of the clock is unknown, or if the device is not active: then an
 * attempt to deliver would raise an alert.
 */
export async function compareClocks(core: Core): Promise<void> {
  if (!core.clock.isSure || core.standing !== 'active') await report(core, {});
}

/** Where the device is now; it is moved there. */
export async function report(core: Core, said: HeartbeatReport): Promise<Station> {
  const reading = await core.ledger.read();
  const battery = said.battery_percent ?? null;
  const body = JSON.stringify({
    device_time: momentText(reading.ms * MICROSECONDS_PER_MS),
    battery_percent: battery === null ? null : Math.min(100, Math.max(0, Math.round(battery))),
    queue_length: core.counts.pending,
    app_version: APP_VERSION,
    manifest_version: core.register?.manifest.manifest_version ?? null,
  });
  const answered = require(await ask(core, { method: 'POST', path: HEARTBEAT, body }), 200);
  const station = answered.read(readStationData).data;
  if (station.offset_seconds !== null) {
    await core.ledger.learn(station.offset_seconds, answered.roundTripMs);
  }
  await move(core, station, answered.apiKey);
  return station;
}

async function move(core: Core, station: Station, apiKey: string | null): Promise<void> {
  const { gate_id, event_id } = station;
  // Every heartbeat comes here; only one that moves the device may have to wait for a manifest.
  const isOtherEvent = core.identity?.event_id !== event_id;
  const isElsewhere = await core.store.write(
    async (tx) => {
      const identity = await tx.state('identity');
      if (identity === null || identity.api_key !== apiKey) return false;
      await tx.keep('station', station);
      if (identity.gate_id === gate_id && identity.event_id === event_id) return false;
      await tx.keep('identity', { ...identity, gate_id, event_id });
      // Where only another tab knew of another event: nothing is decided by the manifest of another.
      if (isOtherEvent && identity.event_id !== event_id) await tx.forgetManifest();
      return true;
    },
    isOtherEvent ? STATE_AND_MANIFEST : ['state'],
  );
  await core.refresh();
  if (isElsewhere) await core.loadRegister();
  core.tell(isElsewhere ? { state: true, manifest: true } : { state: true });
}
