export interface StorageState {
  /** False: the browser may throw everything away when it runs out of room. Say so. */
  isPersistent: boolean;
  usedBytes: number | null;
  quotaBytes: number | null;
}

type Store = Partial<Pick<StorageManager, 'persist' | 'persisted' | 'estimate'>>;

/** Asks the browser never to throw the scans away. Some ask the person, some decide alone. */
export async function persistStorage(
  storage: Store | undefined = globalThis.navigator.storage,
): Promise<StorageState> {
  const isPersistent = await isKept(storage).catch(() => false);
  const estimate = await storage?.estimate?.().catch(() => undefined);
  return {
    isPersistent,
    usedBytes: estimate?.usage ?? null,
    quotaBytes: estimate?.quota ?? null,
  };
}

async function isKept(storage: Store | undefined): Promise<boolean> {
  return ((await storage?.persisted?.()) || (await storage?.persist?.())) ?? false;
}
