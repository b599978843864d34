import { SYNC_TAG, type FromWorker, type ToWorker } from './messages.ts';
import { Shell, type ShellVersion } from './shell.ts';

/** Put in by the build, after all other files are written. */
declare const SHELL_VERSION: ShellVersion;

interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface Worker {
  caches: CacheStorage;
  clients: {
    claim(): Promise<void>;
    matchAll(about: object): Promise<{ postMessage(message: FromWorker): void }[]>;
  };
  location: Location;
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: Waiting) => void): void;
  addEventListener(type: 'message', listener: (event: Waiting & { data: ToWorker }) => void): void;
  addEventListener(type: 'sync', listener: (event: Waiting & { tag: string }) => void): void;
  addEventListener(
    type: 'fetch',
    listener: (
      event: Event & { request: Request; respondWith(answer: Promise<Response>): void },
    ) => void,
  ): void;
}

// TypeScript knows pages or workers, and this file is checked together with the pages.
const worker = self as unknown as Worker;
const { origin } = worker.location;
const shell = new Shell(SHELL_VERSION, worker.caches, (request) => fetch(request));

worker.addEventListener('install', (event) => event.waitUntil(shell.install(origin)));

worker.addEventListener('activate', (event) => {
  // The first time, the page that is open is taken over; later versions were waited for.
  event.waitUntil(shell.removeOthers().then(() => worker.clients.claim()));
});

worker.addEventListener('fetch', (event) => {
  const answer = shell.answer(event.request, origin);
  if (answer) event.respondWith(answer);
});

worker.addEventListener('message', (event) => {
  // Never by itself: an app that changes in the middle of a queue is another app.
  if (event.data === 'activate') event.waitUntil(worker.skipWaiting());
});

worker.addEventListener('sync', (event) => {
  if (event.tag === SYNC_TAG) event.waitUntil(askPagesToSync());
});

async function askPagesToSync(): Promise<void> {
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  for (const page of pages) page.postMessage('sync');
}
