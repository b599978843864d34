import { expect, test, vi } from 'vitest';
import { watchBattery, type Battery } from './battery.ts';
import { Sounds } from './sounds.ts';
import { vibrate } from './vibration.ts';
import { WakeLock } from './wake_lock.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve));

class Page extends EventTarget {
  visibilityState: DocumentVisibilityState = 'visible';
  show(state: DocumentVisibilityState) {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

class Sentinel extends EventTarget {
  readonly type = 'screen';
  released = false;
  onrelease = null;
  async release() {
    this.released = true;
    this.dispatchEvent(new Event('release'));
  }
}

function screen() {
  const sentinels: Sentinel[] = [];
  const request = vi.fn(async () => {
    const sentinel = new Sentinel();
    sentinels.push(sentinel);
    return sentinel;
  });
  return { sentinels, request };
}

test('the screen is kept on, and again after the page was hidden', async () => {
  const { sentinels, request } = screen();
  const page = new Page();
  const told: boolean[] = [];
  const lock = new WakeLock((isHeld) => told.push(isHeld), { request }, page as never);
  const letGo = lock.hold();
  await settled();
  expect(lock.isHeld).toBe(true);

  page.show('hidden');
  await sentinels[0]?.release();
  expect(lock.isHeld).toBe(false);
  page.show('visible');
  await settled();
  expect(lock.isHeld).toBe(true);

  letGo();
  await settled();
  page.show('visible');
  await settled();
  expect(sentinels.map((sentinel) => sentinel.released)).toEqual([true, true]);
  expect(told).toEqual([true, false, true, false]);
});

test('a wake lock that was requested and released before the answer is released', async () => {
  const { sentinels, request } = screen();
  const lock = new WakeLock(undefined, { request }, new Page() as never);
  lock.hold()();
  await settled();
  expect(sentinels[0]?.released).toBe(true);
  expect(lock.isHeld).toBe(false);
});

test('a browser that cannot or will not keep the screen on reports that', async () => {
  const refused = { request: async () => Promise.reject(new Error('NotAllowedError')) };
  for (const locking of [null, refused]) {
    const lock = new WakeLock(undefined, locking, new Page() as never);
    const letGo = lock.hold();
    await settled();
    expect(lock.isHeld).toBe(false);
    letGo();
  }
});

test('the battery is reported as a whole percentage, now and when it changes', async () => {
  const manager = Object.assign(new EventTarget(), { level: 0.566, charging: false });
  const told: Battery[] = [];
  const stop = watchBattery((battery) => told.push(battery), { getBattery: async () => manager });
  await settled();
  manager.charging = true;
  manager.dispatchEvent(new Event('chargingchange'));
  stop();
  manager.dispatchEvent(new Event('levelchange'));
  expect(told).toEqual([
    { percent: 57, isCharging: false },
    { percent: 57, isCharging: true },
  ]);
});

test('without a battery report nothing is shown', async () => {
  const told = vi.fn();
  watchBattery(told, {});
  watchBattery(told, { getBattery: async () => Promise.reject(new Error('NotAllowedError')) });
  await settled();
  expect(told).not.toHaveBeenCalled();
});

test('a refusal vibrates longer than an entry, and an iPhone not at all', () => {
  const lengths = new Map<string, number>();
  for (const sound of ['entry', 'attention', 'refusal'] as const) {
    vibrate(sound, {
      vibrate: (pattern) => {
        lengths.set(
          sound,
          (pattern as number[]).reduce((sum, ms) => sum + ms, 0),
        );
        return true;
      },
    });
  }
  expect(lengths.get('refusal')).toBeGreaterThan(lengths.get('attention') ?? Infinity);
  expect(lengths.get('attention')).toBeGreaterThan(lengths.get('entry') ?? Infinity);
  expect(vibrate('entry', {})).toBe(false);
});

test('before the first touch nothing sounds, and nothing is played late', async () => {
  const context = { state: 'suspended', resume: vi.fn(async () => undefined) };
  const sounds = new Sounds(() => context as unknown as AudioContext);
  const page = new EventTarget();
  const stop = sounds.unlockBy(page);
  await settled();
  sounds.play('entry');
  expect(context.resume).not.toHaveBeenCalled();
  page.dispatchEvent(new Event('pointerdown'));
  expect(context.resume).toHaveBeenCalledOnce();
  expect(sounds.isReady).toBe(false);
  sounds.play('entry');
  expect(await sounds.test()).toBe(false);
  stop();
});

test('the first key of a scanner does not wait for sounds: they were made before', async () => {
  const make = vi.fn(() => ({ state: 'suspended', resume: async () => undefined }));
  const page = new EventTarget();
  const stop = new Sounds(make as unknown as () => AudioContext).unlockBy(page);
  await settled();
  expect(make).toHaveBeenCalledOnce();
  page.dispatchEvent(new Event('keydown'));
  expect(make).toHaveBeenCalledOnce();
  stop();
});

test('a device without sound stays silent and goes on', async () => {
  const sounds = new Sounds(() => {
    throw new Error('NotSupportedError');
  });
  expect(await sounds.unlock()).toBe(false);
  sounds.play('refusal');
  expect(await sounds.test()).toBe(false);
});

test('the volume stays between silent and loudest', () => {
  const sounds = new Sounds();
  sounds.volume = 7;
  expect(sounds.volume).toBe(1);
  sounds.volume = -1;
  expect(sounds.volume).toBe(0);
});
