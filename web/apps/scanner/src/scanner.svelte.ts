import { liveUrl } from '@voelgoed/api';
import { Courier, type Device } from '@voelgoed/device';
import type { Memory } from '@voelgoed/ui';
import { CameraState } from './camera_state.svelte.ts';
import { DeviceState } from './device_state.svelte.ts';
import { watchBattery, type Battery } from './feedback/battery.ts';
import { Sounds, type Sound } from './feedback/sounds.ts';
import { vibrate } from './feedback/vibration.ts';
import { WakeLock } from './feedback/wake_lock.ts';
import { Hydration } from './hydration.svelte.ts';
import { Wedge } from './input/wedge.ts';
import { Live } from './live.svelte.ts';
import { Pairing } from './pairing.svelte.ts';
import { Pin } from './pin.svelte.ts';
import { QueueView } from './queue_view.svelte.ts';
import { Scanning } from './scanning.svelte.ts';
import type { Settings } from './settings.svelte.ts';
import { installApp, type InstalledApp } from './sw/registration.ts';
import { Supervisor } from './supervisor.svelte.ts';
import { persistStorage, type StorageState } from './sw/storage.ts';
import { problem } from './troubles.ts';
import { isReentry } from './verdict_words.ts';
import { lightOf, type Verdict } from './verdict.svelte.ts';

/** Browsers look for a new version when the app starts, and one that stays open never would. */
const LOOK_EVERY_MS = 3_600_000;
/** Whoever restarts does not wait longer for a network that says nothing. */
const LOOK_MS_MAX = 5_000;
const SERVICE_WORKER = `${import.meta.env.BASE_URL}sw.js`;

/** The app: everything that pages share, put together. */
export class Scanner {
  battery = $state.raw<Battery | null>(null);
  storage = $state.raw<StorageState | null>(null);
  isUpdateWaiting = $state(false);
  /** Another version serves this page by now, from this tab or another. */
  isReplaced = $state(false);

  readonly device: DeviceState;
  readonly settings: Settings;
  readonly pin: Pin;
  readonly scanning: Scanning;
  readonly hydration: Hydration;
  readonly pairing: Pairing;
  readonly queue: QueueView;
  readonly live: Live;
  readonly camera: CameraState;
  readonly supervisor: Supervisor;
  readonly sounds = new Sounds();

  readonly #device: Device;
  readonly #courier: Courier;
  readonly #wedge: Wedge;
  #installed: InstalledApp | null = null;

  constructor(device: Device, settings: Settings, memory: Memory) {
    this.#device = device;
    this.settings = settings;
    this.device = new DeviceState(device);
    this.pin = new Pin(memory);
    this.hydration = new Hydration(device);
    this.pairing = new Pairing(device, () => void this.hydration.fetch());
    this.queue = new QueueView(device);
    this.camera = new CameraState(memory);
    this.supervisor = new Supervisor(device);
    this.scanning = new Scanning(
      device,
      () => settings.current.direction,
      (verdict) => this.#feel(verdict),
    );
    const battery = async () => this.battery?.percent ?? null;
    this.#courier = new Courier(device, {
      battery,
      onFault: (fault) => this.hydration.fail(fault),
    });
    this.#wedge = new Wedge(window, {
      onRead: (text) => this.read(text),
      onHidden: () => this.#missKeys(),
    });
    this.live = new Live(
      (apiKey) => new WebSocket(liveUrl(location), ['voelgoed', apiKey]),
      async () => device.beat({ battery_percent: await battery() }),
    );
  }

  /** What a camera or a hand scanner read, whatever page is open. */
  read(text: string): void {
    if (this.#isScanning) void this.scanning.read(text);
    else void this.pairing.give(text);
  }

  /** Something on the device keeps from us what a hand scanner types. */
  #missKeys(): void {
    const found = problem('keys_hidden');
    if (this.#isScanning) this.scanning.fail(found);
    else this.pairing.problem = found;
  }

  get #isScanning(): boolean {
    return this.device.isPaired && !this.pairing.isWanted;
  }

  /** Until the returned function is called. */
  start(): () => void {
    const stops = [
      this.device.follow(),
      watchBattery((battery) => (this.battery = battery)),
      this.sounds.unlockBy(window),
      new WakeLock().hold(),
      this.#wedge.start(),
      () => this.#courier.stop(),
      () => this.live.stop(),
      () => this.camera.close(),
    ];
    this.#courier.start();
    void this.askToPersist();
    void this.#install();
    const looking = setInterval(() => void this.#lookForUpdate(), LOOK_EVERY_MS);
    stops.push(() => clearInterval(looking));
    if (this.device.isPaired && !this.device.manifest) void this.hydration.fetch();
    return () => stops.forEach((stop) => stop());
  }

  /** What was chosen, told to those who do it. */
  apply(): void {
    const { onlineWaitMs, hasSound, volume, wedgePrefix, wedgeSuffix } = this.settings.current;
    this.#device.setOnlineWait(onlineWaitMs);
    this.sounds.volume = hasSound ? volume : 0;
    this.#wedge.settings = { prefix: wedgePrefix, suffix: wedgeSuffix };
  }

  /** The network may be back. */
  nudge(): void {
    this.#courier.nudge();
    this.live.wake();
    void this.#lookForUpdate();
  }

  async askToPersist(): Promise<void> {
    this.storage = await persistStorage();
  }

  /** To be woken when the network is back, also while nobody looks. */
  async askForSync(): Promise<void> {
    await this.#installed?.askForSync();
  }

  /** With the newest version that can be had. */
  async restart(): Promise<void> {
    if (!this.isUpdateWaiting) await Promise.race([this.#lookForUpdate(), after(LOOK_MS_MAX)]);
    if (this.isUpdateWaiting) this.#installed?.activate();
    else location.reload();
  }

  async #lookForUpdate(): Promise<void> {
    await this.#installed?.lookForUpdate();
  }

  async #install(): Promise<void> {
    if (import.meta.env.DEV) return;
    this.#installed = await installApp(SERVICE_WORKER, {
      onUpdateWaits: () => (this.isUpdateWaiting = true),
      onReplaced: () => (this.isReplaced = true),
      onSync: () => this.nudge(),
    });
  }

  #feel(verdict: Verdict): void {
    const sound = soundOf(verdict);
    this.sounds.play(sound);
    if (this.settings.current.hasVibration) vibrate(sound);
  }
}

export function soundOf(verdict: Verdict): Sound {
  const light = lightOf(verdict);
  if (verdict.kind === 'problem' || light === 'red') return 'refusal';
  if (light === 'yellow') return 'attention';
  if (verdict.answer.direction === 'exit') return 'exit';
  return isReentry(verdict.answer) ? 'reentry' : 'entry';
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
