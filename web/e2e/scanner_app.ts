import { expect as expectSoon, type Locator, type Page } from '@playwright/test';
import { keptOn, type KeptState } from './scanner_kept.ts';

/** Of a machine that does much else besides. */
export const SOON_MS = 30_000;
export const expect = expectSoon.configure({ timeout: SOON_MS });

export type Light = 'green' | 'yellow' | 'red';

export interface SeenVerdict {
  light: Light;
  /** Null where nothing was recorded. */
  scanId: string | null;
  text: string;
}

type Watched = Window & { verdicts: SeenVerdict[] };

/** The scanner, as whoever stands at the gate uses it. */
export class ScannerApp {
  private constructor(readonly page: Page) {}

  /** Whatever it shows from now on is remembered, also what nobody looked at in time. */
  static async in(page: Page): Promise<ScannerApp> {
    await page.addInitScript(rememberVerdicts);
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

  /** With a ticket list, and the app kept on the device. */
  async isReady(): Promise<void> {
    await expect(this.status('list')).toHaveText(/^List \d+/);
    await expect(this.page.getByRole('heading', { name: 'Scan tickets' })).toBeAttached();
    await this.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  }

  status(name: 'queue' | 'list' | 'clock' | 'sent'): Locator {
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

  /** As a hand scanner types it, and the verdict that follows. */
  async scan(text: string): Promise<SeenVerdict> {
    const before = (await this.verdicts()).length;
    await this.page.evaluate(typeAtOnce, text);
    return this.verdictAfter(before);
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
    await expect(this.status('queue')).toHaveText('All sent', { timeout: 90_000 });
    expect((await this.kept()).pending).toEqual([]);
  }
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
