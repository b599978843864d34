import type { BrowserContext, Page } from '@playwright/test';

/** Anything longer is the manifest. */
const LARGE = 1_000_000;

export interface Shown {
  ms: number;
  light: string | undefined;
}

export interface BareLoad {
  read_ms: number;
  parse_ms: number;
}

interface Step {
  began: number;
  ended: number;
}

/** What is measured inside the page, by clocks of the page. */
interface Timing {
  /** As a hand scanner gives it; until its verdict is on the screen. */
  present(text: string): Promise<Shown>;
  /** A change of one colour; until it is on the screen. */
  bareFrame(): Promise<number>;
  /** Of the manifest that is kept: read from the disk, and made into objects. Nothing else. */
  bareLoad(): Promise<BareLoad>;
  steps: Record<'verify' | 'parse' | 'store', Step[]>;
  /** When the status bar first said that there is a ticket list. */
  ready: Promise<number>;
}

type Timed = Window & { timing: Timing };

export async function addTiming(context: BrowserContext): Promise<void> {
  await context.addInitScript(install, LARGE);
}

export async function present(page: Page, text: string): Promise<Shown> {
  return page.evaluate((shown) => (window as unknown as Timed).timing.present(shown), text);
}

export async function bareFrame(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as Timed).timing.bareFrame());
}

export async function bareLoad(page: Page): Promise<BareLoad> {
  return page.evaluate(() => (window as unknown as Timed).timing.bareLoad());
}

/** In milliseconds since the page was asked for. */
export async function readyMs(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as Timed).timing.ready);
}

export async function steps(page: Page): Promise<Timing['steps']> {
  return page.evaluate(() => (window as unknown as Timed).timing.steps);
}

/** Runs in the page, before the app does, and knows nothing of this file. */
function install(large: number): void {
  const steps: Timing['steps'] = { verify: [], parse: [], store: [] };

  const afterPaint = (work: () => void): void => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = work;
      port2.postMessage(null);
    });
  };

  const press = (key: string): void => {
    window.dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true }));
  };

  const whenShown = <T>(look: () => T | null): Promise<T> =>
    new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        const found = look();
        if (found === null) return;
        observer.disconnect();
        afterPaint(() => resolve(found));
      });
      observer.observe(document, { childList: true, subtree: true, attributes: true });
    });

  const present = async (text: string): Promise<Shown> => {
    const before = document.querySelector<HTMLElement>('.verdict')?.dataset.scan;
    const verdict = whenShown(() => {
      const found = document.querySelector<HTMLElement>('.verdict');
      return found && found.dataset.scan !== before ? found : null;
    });
    for (const key of text) press(key);
    const began = performance.now();
    press('Enter');
    const { light } = (await verdict).dataset;
    return { ms: performance.now() - began, light };
  };

  const bareFrame = (): Promise<number> =>
    new Promise((resolve) => {
      const began = performance.now();
      document.documentElement.style.accentColor = `rgb(0 0 ${Math.floor(began) % 256})`;
      afterPaint(() => resolve(performance.now() - began));
    });

  const done = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });

  const bareLoad = async (): Promise<BareLoad> => {
    const database = await done(indexedDB.open('voelgoed-scanner'));
    const began = performance.now();
    const store = database.transaction('manifest').objectStore('manifest');
    const { key } = (await done(store.get('manifest'))) as { key: string };
    const kept = (await done(store.get(key))) as { document: Uint8Array };
    const read = performance.now();
    JSON.parse(new TextDecoder().decode(kept.document));
    const ended = performance.now();
    database.close();
    return { read_ms: read - began, parse_ms: ended - read };
  };

  const ready = whenShown(() => document.querySelector('[data-status="list"]:not(.bad)')).then(() =>
    performance.now(),
  );

  const { sign } = crypto.subtle;
  crypto.subtle.sign = async function (algorithm, key, data) {
    const began = performance.now();
    const signature = await sign.call(this, algorithm, key, data);
    if (data.byteLength > large) steps.verify.push({ began, ended: performance.now() });
    return signature;
  };

  const { parse } = JSON;
  JSON.parse = (text, reviver) => {
    const began = performance.now();
    const parsed: unknown = parse(text, reviver);
    if (text.length > large) steps.parse.push({ began, ended: performance.now() });
    return parsed;
  };

  const { transaction } = IDBDatabase.prototype;
  IDBDatabase.prototype.transaction = function (names, mode, options) {
    const began = performance.now();
    const tx = transaction.call(this, names, mode, options);
    if (mode === 'readwrite' && tx.objectStoreNames.contains('manifest')) {
      tx.addEventListener('complete', () => steps.store.push({ began, ended: performance.now() }));
    }
    return tx;
  };

  Object.assign(window, { timing: { present, bareFrame, bareLoad, steps, ready } });
}
