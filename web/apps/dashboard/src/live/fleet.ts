import type { FleetDevice } from '@voelgoed/api';

/** More than so far off, and the server takes its scans for suspicious. */
const CLOCK_OFF_SECONDS_MAX = 60;
const BATTERY_LOW_PERCENT = 20;
/** A list is made anew with every sale, and devices fetch it when they speak: being behind is usual. */
export const LIST_OLD_SECONDS_MIN = 5 * 60;

export type Doubt = 'silent' | 'queue' | 'battery' | 'clock' | 'list';

export interface Uncertainty {
  silentDevices: number;
  /** Of the one that is silent for longest. */
  silentSeconds: number;
  /** Scans that devices said they have and did not send yet. */
  waiting: number;
}

/** What the count cannot know: what devices that nobody hears have seen. */
export function uncertaintyOf(devices: FleetDevice[], passedSeconds: number): Uncertainty {
  const working = devices.filter(({ status, is_revoked }) => status !== 'inactive' && !is_revoked);
  const silences = working.filter(isSilent).map((device) => silentFor(device, passedSeconds));
  return {
    silentDevices: silences.length,
    silentSeconds: Math.max(0, ...silences),
    waiting: working.reduce((sum, { queue_length }) => sum + (queue_length ?? 0), 0),
  };
}

/** The server decides from when on a device is silent. */
export function isSilent({ status }: FleetDevice): boolean {
  return status === 'offline';
}

/** Since the fleet was read, `passedSeconds` more have passed. */
export function silentFor({ silent_seconds }: FleetDevice, passedSeconds: number): number {
  return silent_seconds + passedSeconds;
}

/** What somebody should look at, of one device, whose ticket list is so many seconds behind. */
export function doubtsOf(device: FleetDevice, behindSeconds: number | null): Doubt[] {
  const doubts: [Doubt, boolean][] = [
    ['silent', isSilent(device)],
    ['queue', (device.queue_length ?? 0) > 0],
    ['battery', (device.battery_percent ?? 100) < BATTERY_LOW_PERCENT],
    ['clock', Math.abs(device.clock_offset_seconds ?? 0) > CLOCK_OFF_SECONDS_MAX],
    ['list', behindSeconds !== null && behindSeconds >= LIST_OLD_SECONDS_MIN],
  ];
  return doubts.filter(([, isSo]) => isSo).map(([doubt]) => doubt);
}
