import { expect as expectSoon, type Locator, type Page } from '@playwright/test';
import { OUT_OF_VIEW_MS } from '../apps/scanner/src/input/once.ts';
import { keptOn, type KeptState } from './scanner_kept.ts';

/**
 * Of a machine that does much else besides. A device says how it is every half minute: where an
 * answer came too late to tell the clock or the network, the next one does.
 */
export const SOON_MS = 75_000;
export const expect = expectSoon.configure({ timeout: SOON_MS });

/** Where one try was in vain the next follows in half a minute, and its batches wait as well. */
export const SENT_MS_MAX = 180_000;

/** The longest that can be chosen: a busy machine may answer late, and yellow is not green. */
export const ONLINE_WAIT_MS = 5_000;
/** What becomes of it. */
const PATIENCE_MS = 60_000;
const LONG_MS = 600_000;

export type Light = 'green' | 'yellow' | 'red';

export interface SeenVerdict {
  light: Light;
  /** Null where nothing was recorded. */
  scanId: string | null;
  text: string;
}

type Watched = Window & { verdicts: SeenVerdict[] };

/** The scanner, as whoever stands at the gate uses it, in a browser whose clock a test can move. */
export class ScannerApp {
  readonly #decided = new Set<string>();

  private constructor(readonly page: Page) {}

  /** Whatever it shows from now on is remembered, also what nobody looked at in time. */
  static async in(page: Page): Promise<ScannerApp> {
    await page.addInitScript(rememberVerdicts);
    await page.addInitScript(stretchTimers, { [ONLINE_WAIT_MS]: PATIENCE_MS });
    return new ScannerApp(page);
  }

  async open(path = ''): Promise<void> {
    await this.page.goto(`/scanner/${path}`);
    await expect(this.page.getByRole('main')).toBeVisible();
  }

  async pairByTyping(token: string): Promise<void> {
    await this.startPairing(token);
    await this.isReady();
  }

  async startPairing(token: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Type the code' }).click();
    await this.page.getByLabel('Pairing code').fill(token.toLowerCase());
    await this.page.getByRole('button', { name: 'Pair', exact: true }).click();
  }

  async hasList(): Promise<void> {
    await expect(this.status('list')).toHaveText(/^List \d+/);
    await expect(this.page.getByRole('heading', { name: 'Scan tickets' })).toBeAttached();
  }

  /** With a ticket list, and the app kept on the device. */
  async isReady(): Promise<void> {
    await this.hasList();
    await this.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  }

  status(name: 'queue' | 'list' | 'clock' | 'sent' | 'inside' | 'gate' | 'battery'): Locator {
    return this.page.locator(`[data-status="${name}"]`);
  }

  get verdict(): Locator {
    return this.page.locator('[data-light]');
  }

  problem(code: string): Locator {
    return this.page.locator(`[data-problem="${code}"]`);
  }

  async goTo(name: 'Scan' | 'Queue' | 'Settings'): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name }).click();
  }

  /** What was read is decided about; its verdict is not to be taken for that of the next ticket. */
  async isIdle(): Promise<void> {
    await expect(this.page.getByRole('status').filter({ hasText: 'Checking' })).toBeHidden();
  }

  /** From now on a verdict stays: nobody can look at all of it in two seconds. */
  async keepVerdicts(): Promise<void> {
    await this.page.evaluate(stretchTimers, { 2_000: LONG_MS, 3_000: LONG_MS });
  }

  /** As a hand scanner types it, and the verdict that follows. */
  async scan(text: string): Promise<SeenVerdict> {
    // A hand scanner that reads the same twice in a row has read it once.
    if (this.#decided.has(text)) await this.passTime(OUT_OF_VIEW_MS);
    const before = (await this.verdicts()).length;
    await this.page.evaluate(typeAtOnce, text);
    const verdict = await this.verdictAfter(before);
    this.#decided.add(text);
    return verdict;
  }

  async passTime(ms: number): Promise<void> {
    await this.page.clock.fastForward(ms);
  }

  async verdictAfter(count: number): Promise<SeenVerdict> {
    await expect.poll(async () => (await this.verdicts()).length).toBeGreaterThan(count);
    return (await this.verdicts())[count] as SeenVerdict;
  }

  /** Since the page was loaded. */
  verdicts(): Promise<SeenVerdict[]> {
    return this.page.evaluate(() => (window as unknown as Watched).verdicts);
  }

  kept(): Promise<KeptState> {
    return keptOn(this.page);
  }

  async hasSentAll(): Promise<void> {
    await expect(this.status('queue')).toHaveText('All sent', { timeout: SENT_MS_MAX });
    expect((await this.kept()).pending).toEqual([]);
  }
}

/** What somebody chose on the device before, as a browser keeps it. */
export function deviceState(origin: string, chosen: object) {
  const localStorage = [{ name: 'voelgoed.scanner.settings', value: JSON.stringify(chosen) }];
  return { cookies: [], origins: [{ origin, localStorage }] };
}

/** Timers of exactly so many milliseconds are longer. */
export function stretchTimers(longer: Record<number, number>): void {
  const soon = window.setTimeout;
  window.setTimeout = ((work: () => void, ms = 0) =>
    soon(work, longer[ms] ?? ms)) as typeof setTimeout;
}

function rememberVerdicts(): void {
  const verdicts: SeenVerdict[] = ((window as unknown as Watched).verdicts = []);
  let last: Element | null = null;
  new MutationObserver(() => {
    const shown = document.querySelector<HTMLElement>('[data-light]');
    if (shown === last) return;
    last = shown;
    if (shown === null) return;
    const { light, scan } = shown.dataset;
    verdicts.push({ light: light as Light, scanId: scan ?? null, text: shown.innerText });
  }).observe(document, { childList: true, subtree: true });
}

/** However busy the machine is: no pause between the keys. */
function typeAtOnce(text: string): void {
  for (const key of [...text, 'Enter']) {
    for (const kind of ['keydown', 'keyup']) {
      document.body.dispatchEvent(
        new KeyboardEvent(kind, { key, bubbles: true, cancelable: true }),
      );
    }
  }
}
