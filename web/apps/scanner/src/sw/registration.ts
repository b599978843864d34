import { SYNC_TAG, type FromWorker, type ToWorker } from './messages.ts';

export interface ShellListeners {
  /** A new version is on the device and waits for `activate()`. */
  onUpdateWaits: () => void;
  /** A new version has taken over, from this tab or another: time to reload the page. */
  onReplaced: () => void;
  /** The browser says that the network is back. */
  onSync: () => void;
}

/** The app as it is kept on the device. */
export interface InstalledApp {
  /** Start using the version that waits; `onReplaced` follows. */
  activate(): void;
  /** Asks the server for a new version, until it is on the device; says nothing where it is away. */
  lookForUpdate(): Promise<void>;
  /** Calls when the network is back; false where the browser cannot. */
  askForSync(): Promise<boolean>;
}

type MaySync = { sync?: { register(tag: string): Promise<void> } };

/** null where the browser keeps no apps, or would not: it works all the same, with a network. */
export async function installApp(
  url: string,
  listeners: ShellListeners,
  container: ServiceWorkerContainer | undefined = globalThis.navigator.serviceWorker,
): Promise<InstalledApp | null> {
  if (!container) return null;
  listen(container, listeners);
  try {
    const registration = await container.register(url, { updateViaCache: 'none' });
    watch(registration, container, listeners.onUpdateWaits);
    return appOf(registration);
  } catch {
    return null;
  }
}

function listen(container: ServiceWorkerContainer, listeners: ShellListeners): void {
  let isControlled = container.controller !== null;
  container.addEventListener('controllerchange', () => {
    // The first version takes over a page that came from the network, and is the same.
    if (isControlled) listeners.onReplaced();
    isControlled = true;
  });
  container.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    if (data === 'sync') listeners.onSync();
  });
}

function watch(
  registration: ServiceWorkerRegistration,
  container: ServiceWorkerContainer,
  onUpdateWaits: () => void,
): void {
  const follow = (worker: ServiceWorker | null) => {
    worker?.addEventListener('statechange', () => {
      if (worker.state === 'installed' && container.controller) onUpdateWaits();
    });
  };
  if (registration.waiting && container.controller) onUpdateWaits();
  follow(registration.installing);
  registration.addEventListener('updatefound', () => follow(registration.installing));
}

function appOf(registration: ServiceWorkerRegistration): InstalledApp {
  return {
    activate: () => registration.waiting?.postMessage('activate' satisfies ToWorker),
    lookForUpdate: async () => {
      await registration.update().catch(() => undefined);
      await arrived(registration.installing);
    },
    askForSync: async () => {
      const { sync } = registration as MaySync;
      if (!sync) return false;
      return sync.register(SYNC_TAG).then(
        () => true,
        () => false,
      );
    },
  };
}

/** On the device, or given up. */
async function arrived(worker: ServiceWorker | null): Promise<void> {
  if (worker?.state !== 'installing') return;
  await new Promise<void>((resolve) => {
    worker.addEventListener('statechange', () => resolve(), { once: true });
  });
}
