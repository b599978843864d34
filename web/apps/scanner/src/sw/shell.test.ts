import { expect, test, vi } from 'vitest';
import { CACHE_PREFIX, Shell, type ShellVersion } from './shell.ts';

const ORIGIN = 'https://gate.example';
const VERSION: ShellVersion = {
  version: 'two',
  base: '/scanner/',
  files: [
    { path: '/scanner/', integrity: 'sha256-page' },
    { path: '/scanner/assets/app-1.js', integrity: 'sha256-app' },
  ],
};

/** As the browser's: `addAll` keeps all or nothing. */
class FakeCaches {
  readonly kept = new Map<string, Map<string, string>>();
  readonly asked: Request[] = [];
  isServerAway = false;

  async open(name: string) {
    const files = this.kept.get(name) ?? new Map<string, string>();
    this.kept.set(name, files);
    return {
      addAll: async (requests: Request[]) => {
        this.asked.push(...requests);
        if (this.isServerAway) throw new TypeError('Failed to fetch');
        for (const request of requests) files.set(request.url, `${name} ${request.url}`);
      },
      match: async (address: string) => {
        const text = files.get(address);
        return text === undefined ? undefined : new Response(text);
      },
    };
  }
  async keys() {
    return [...this.kept.keys()];
  }
  async delete(name: string) {
    return this.kept.delete(name);
  }
}

async function installed() {
  const caches = new FakeCaches();
  const ask = vi.fn(async () => new Response('from the network'));
  const shell = new Shell(VERSION, caches as never, ask);
  await shell.install(ORIGIN);
  const get = (path: string, init?: RequestInit) =>
    shell.answer(new Request(new URL(path, ORIGIN), init), ORIGIN);
  return { caches, shell, ask, get };
}

test('every file is requested with the hash that the build gave it', async () => {
  const { caches } = await installed();
  expect(caches.asked.map(({ url, integrity }) => [url, integrity])).toEqual([
    [`${ORIGIN}/scanner/`, 'sha256-page'],
    [`${ORIGIN}/scanner/assets/app-1.js`, 'sha256-app'],
  ]);
});

test('the page and its files come from the device, whatever the query is', async () => {
  const { get, ask } = await installed();
  for (const path of ['/scanner/', '/scanner/?source=home', '/scanner/index.html']) {
    expect(await (await get(path))?.text()).toBe(`${CACHE_PREFIX}two ${ORIGIN}/scanner/`);
  }
  expect(await (await get('/scanner/assets/app-1.js'))?.text()).toContain('app-1.js');
  expect(ask).not.toHaveBeenCalled();
});

test('nothing else is touched', async () => {
  const { get } = await installed();
  expect(get('/api/scans')).toBeNull();
  expect(get('/scanner/assets/app-0.js')).toBeNull();
  expect(get('/dashboard/')).toBeNull();
  expect(get('/health/live')).toBeNull();
  expect(get('/scanner/', { method: 'POST' })).toBeNull();
  expect(get('https://elsewhere.example/scanner/')).toBeNull();
});

test('a file that the browser threw away comes from the network', async () => {
  const { caches, get } = await installed();
  caches.kept.clear();
  expect(await (await get('/scanner/'))?.text()).toBe('from the network');
});

test('other versions are removed, and foreign caches stay', async () => {
  const { caches, shell } = await installed();
  await caches.open(`${CACHE_PREFIX}one`);
  await caches.open('somebody');
  await shell.removeOthers();
  expect(await caches.keys()).toEqual([`${CACHE_PREFIX}two`, 'somebody']);
});

test('a version that cannot be fetched whole is not installed, and the present one stays', async () => {
  const { caches } = await installed();
  caches.isServerAway = true;
  const next = new Shell({ ...VERSION, version: 'three' }, caches as never, fetch);
  await expect(next.install(ORIGIN)).rejects.toThrow();
  expect(caches.kept.get(`${CACHE_PREFIX}two`)?.size).toBe(2);
  expect(caches.kept.get(`${CACHE_PREFIX}three`)?.size).toBe(0);
});
