export interface Battery {
  /** 0 to 100, as the heartbeat tells it. */
  percent: number;
  isCharging: boolean;
}

interface BatteryManager extends EventTarget {
  readonly level: number;
  readonly charging: boolean;
}

/** Only Chromium tells. */
interface MayTell {
  getBattery?: () => Promise<BatteryManager>;
}

const CHANGES = ['levelchange', 'chargingchange'] as const;

/** Tells the battery now and whenever it changes; never calls where the device does not tell. */
export function watchBattery(
  onChange: (battery: Battery) => void,
  navigator: MayTell = globalThis.navigator as MayTell,
): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const watch = async () => {
    const manager = await navigator.getBattery?.();
    if (!manager || signal.aborted) return;
    const tell = () =>
      onChange({ percent: Math.round(manager.level * 100), isCharging: manager.charging });
    for (const change of CHANGES) manager.addEventListener(change, tell, { signal });
    tell();
  };
  watch().catch(() => undefined);
  return () => stopped.abort();
}
