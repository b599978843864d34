export interface Battery {
  /** 0 to 100, as the heartbeat reports it. */
  percent: number;
  isCharging: boolean;
}

interface BatteryManager extends EventTarget {
  readonly level: number;
  readonly charging: boolean;
}

/** Only Chromium has this. */
interface MayTell {
  getBattery?: () => Promise<BatteryManager>;
}

const CHANGES = ['levelchange', 'chargingchange'] as const;

/** Reports the battery now and whenever it changes; never calls where the browser does not. */
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
