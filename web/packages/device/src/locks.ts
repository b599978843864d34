/** So that of several tabs one sends. */

/** The part of `navigator.locks` that is needed. */
export interface Locks {
  request<T>(
    name: string,
    options: { ifAvailable?: boolean },
    work: (lock: unknown) => Promise<T>,
  ): Promise<T>;
}

const held = new Map<string, Promise<unknown>>();

/** Where a browser has no locks: among the devices of this page alone. */
export const processLocks: Locks = {
  async request(name, { ifAvailable = false }, work) {
    if (ifAvailable && held.has(name)) return await work(null);
    while (held.has(name)) await held.get(name);
    const done = work({ name });
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    held.set(name, settled);
    try {
      return await done;
    } finally {
      held.delete(name);
    }
  },
};
