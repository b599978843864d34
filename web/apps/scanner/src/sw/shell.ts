/** A file of the app as it was built: where it is served, and what it must be. */
export interface ShellFile {
  path: string;
  /** As in the `integrity` of HTML. */
  integrity: string;
}

/** A version of the app, as the build writes it into the service worker. */
export interface ShellVersion {
  version: string;
  /** Where the page is served, and everything below it: `/scanner/`. */
  base: string;
  files: readonly ShellFile[];
}

export const CACHE_PREFIX = 'voelgoed-scanner-';

/** All files of one version of the app, kept on the device: it starts without a network. */
export class Shell {
  readonly #version: ShellVersion;
  readonly #caches: CacheStorage;
  readonly #fetch: typeof fetch;
  readonly #name: string;
  readonly #paths: ReadonlySet<string>;

  constructor(version: ShellVersion, caches: CacheStorage, ask: typeof fetch) {
    this.#version = version;
    this.#caches = caches;
    this.#fetch = ask;
    this.#name = CACHE_PREFIX + version.version;
    this.#paths = new Set(version.files.map((file) => file.path));
  }

  /** All or nothing: while a new version is put on the server, some files are still of the old. */
  async install(origin: string): Promise<void> {
    const cache = await this.#caches.open(this.#name);
    const requests = this.#version.files.map(
      ({ path, integrity }) => new Request(origin + path, { integrity, cache: 'no-cache' }),
    );
    await cache.addAll(requests);
  }

  async removeOthers(): Promise<void> {
    const names = await this.#caches.keys();
    const others = names.filter((name) => name.startsWith(CACHE_PREFIX) && name !== this.#name);
    await Promise.all(others.map((name) => this.#caches.delete(name)));
  }

  /** The file of this version that is asked for, or null where it is not the app's. */
  answer(request: Request, origin: string): Promise<Response> | null {
    const url = new URL(request.url);
    if (request.method !== 'GET' || url.origin !== origin) return null;
    const path =
      url.pathname === `${this.#version.base}index.html` ? this.#version.base : url.pathname;
    return this.#paths.has(path) ? this.#kept(origin + path, request) : null;
  }

  async #kept(address: string, request: Request): Promise<Response> {
    const cache = await this.#caches.open(this.#name);
    // The browser may have thrown them away when it ran out of room.
    return (await cache.match(address)) ?? this.#fetch(request);
  }
}
