import { expect, test, vi } from 'vitest';
import { installApp } from './registration.ts';
import { persistStorage } from './storage.ts';

class FakeWorker extends EventTarget {
  state = 'installing';
  readonly postMessage = vi.fn();
  become(state: string) {
    this.state = state;
    this.dispatchEvent(new Event('statechange'));
  }
}

class Registration extends EventTarget {
  installing: FakeWorker | null = null;
  waiting: FakeWorker | null = null;
  sync?: { register: (tag: string) => Promise<void> };
  readonly update = vi.fn(async (): Promise<void> => undefined);
  find(worker: FakeWorker) {
    this.installing = worker;
    this.dispatchEvent(new Event('updatefound'));
  }
}

class Container extends EventTarget {
  controller: FakeWorker | null = null;
  readonly registration = new Registration();
  async register() {
    return this.registration;
  }
  control(worker: FakeWorker) {
    this.controller = worker;
    this.dispatchEvent(new Event('controllerchange'));
  }
}

async function installedIn(container: Container) {
  const told: string[] = [];
  const listeners = {
    onUpdateWaits: () => told.push('update waits'),
    onReplaced: () => told.push('replaced'),
    onSync: () => told.push('sync'),
  };
  const app = await installApp('/scanner/sw.js', listeners, container as never);
  return { app, told };
}

test('the first version takes over without a word', async () => {
  const container = new Container();
  const { told } = await installedIn(container);
  const worker = new FakeWorker();
  container.registration.find(worker);
  worker.become('installed');
  container.control(worker);
  expect(told).toEqual([]);
});

test('a new version waits until the app asks for it', async () => {
  const container = new Container();
  container.controller = new FakeWorker();
  const { app, told } = await installedIn(container);
  const worker = new FakeWorker();
  container.registration.find(worker);
  worker.become('installed');
  expect(told).toEqual(['update waits']);
  expect(worker.postMessage).not.toHaveBeenCalled();

  container.registration.waiting = worker;
  app?.activate();
  expect(worker.postMessage).toHaveBeenCalledWith('activate');
  container.control(worker);
  expect(told).toEqual(['update waits', 'replaced']);
});

test('a search for a new version ends when all of it is on the device', async () => {
  const container = new Container();
  container.controller = new FakeWorker();
  const { app, told } = await installedIn(container);
  const worker = new FakeWorker();
  container.registration.update.mockImplementation(async () => {
    container.registration.find(worker);
  });
  const looking = app?.lookForUpdate();
  setTimeout(() => worker.become('installed'));
  await looking;
  expect(told).toEqual(['update waits']);
});

test('a search for a new version without a network ends', async () => {
  const container = new Container();
  const { app, told } = await installedIn(container);
  container.registration.update.mockRejectedValue(new TypeError('Failed to fetch'));
  await app?.lookForUpdate();
  expect(told).toEqual([]);
});

test('a version that waited before this start is reported too', async () => {
  const container = new Container();
  container.controller = new FakeWorker();
  container.registration.waiting = new FakeWorker();
  expect((await installedIn(container)).told).toEqual(['update waits']);
});

test('the browser reports that the network is back, where it can', async () => {
  const container = new Container();
  const { app, told } = await installedIn(container);
  expect(await app?.askForSync()).toBe(false);
  const register = vi.fn(async () => undefined);
  container.registration.sync = { register };
  expect(await app?.askForSync()).toBe(true);
  expect(register).toHaveBeenCalledWith('voelgoed-sync');
  container.dispatchEvent(new MessageEvent('message', { data: 'sync' }));
  expect(told).toEqual(['sync']);
});

test('a browser that keeps no apps gets none, and no error', async () => {
  const nowhere = { ...new Container(), addEventListener: () => undefined };
  const refusing = { ...nowhere, register: async () => Promise.reject(new Error('SecurityError')) };
  const listeners = { onUpdateWaits: vi.fn(), onReplaced: vi.fn(), onSync: vi.fn() };
  expect(await installApp('/scanner/sw.js', listeners, refusing as never)).toBeNull();
});

test('the browser is asked to keep everything, and its answer is reported', async () => {
  const estimate = async () => ({ usage: 7, quota: 100 });
  const persist = vi.fn(async () => true);
  const asked = { persisted: async () => false, persist, estimate };
  const sizes = { usedBytes: 7, quotaBytes: 100 };
  expect(await persistStorage(asked)).toEqual({ isPersistent: true, ...sizes });
  const refused = { ...asked, persist: async () => false };
  expect(await persistStorage(refused)).toEqual({ isPersistent: false, ...sizes });
  persist.mockClear();
  await persistStorage({ ...asked, persisted: async () => true });
  expect(persist).not.toHaveBeenCalled();
  expect(await persistStorage({})).toEqual({
    isPersistent: false,
    usedBytes: null,
    quotaBytes: null,
  });
});
