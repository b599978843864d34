import type { Device, LoggedScan } from '@voelgoed/device';
import type { Direction } from '@voelgoed/rules';
import { Once } from './input/once.ts';
import { problemOf, type Problem } from './troubles.ts';
import { VerdictState, type Verdict } from './verdict.svelte.ts';

const RECENT_MOST = 20;
/** Who waited for the one before lets its verdict be seen at least for so long. */
export const SEEN_MS_MIN = 800;

export type Scans = Pick<Device, 'scan' | 'practise' | 'recent'>;

/** Who hears of verdicts besides the screen: sounds, vibration. */
export type Feedback = (verdict: Verdict) => void;

/** The way from a read code to a shown verdict. One ticket at a time: no verdict is skipped. */
export class Scanning {
  isPractice = $state(false);
  isChecking = $state(false);
  recent = $state.raw<LoggedScan[]>([]);
  readonly verdict = new VerdictState();

  readonly #device: Scans;
  readonly #direction: () => Direction;
  readonly #feedback: Feedback;
  readonly #once = new Once();
  readonly #underWay = new Set<string>();
  #last: Promise<void> = Promise.resolve();
  #waiting = $state(0);
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(device: Scans, direction: () => Direction, feedback: Feedback) {
    this.#device = device;
    this.#direction = direction;
    this.#feedback = feedback;
  }

  /** Nobody looks at a verdict or waits for one. */
  get isIdle(): boolean {
    return this.#waiting === 0 && this.verdict.current === null;
  }

  /** What a camera or a hand scanner read: some read a ticket twice, and it is one scan. */
  async read(text: string): Promise<void> {
    const key = `${this.#direction()} ${text}`;
    // Whoever pulls the trigger again because the server is slow means the same.
    if (this.#underWay.has(key) || !this.#counts(key)) return;
    this.#underWay.add(key);
    await this.present(text);
    this.#underWay.delete(key);
    this.#counts(key);
  }

  /** Nothing was recorded, for this device kept it from us. */
  fail(found: Problem): void {
    this.#show({ kind: 'problem', problem: found });
  }

  /** What was read or typed. Resolves when its verdict is shown. */
  present(text: string): Promise<void> {
    const direction = this.#direction();
    const isPractice = this.isPractice;
    const hasToWait = this.#waiting > 0;
    this.#waiting += 1;
    const turn = this.#last.then(async () => {
      if (hasToWait && this.verdict.current) await seen();
      await this.#decide(text, direction, isPractice);
    });
    this.#last = turn.finally(() => (this.#waiting -= 1));
    return this.#last;
  }

  /** A call during a read gets the result of a later read. */
  readRecent(): Promise<void> {
    this.#next ??= this.#reading.then(async () => {
      this.#next = null;
      // A list that is a moment old is better than none.
      this.recent = await this.#device.recent(RECENT_MOST).catch(() => this.recent);
    });
    return (this.#reading = this.#next);
  }

  async #decide(text: string, direction: Direction, isPractice: boolean): Promise<void> {
    this.verdict.dismiss();
    this.isChecking = true;
    const verdict = await this.#ask(text, direction, isPractice);
    this.isChecking = false;
    this.#show(verdict);
    if (!isPractice) void this.readRecent();
  }

  #show(verdict: Verdict): void {
    this.verdict.show(verdict);
    this.#feedback(verdict);
  }

  #counts(key: string): boolean {
    return this.#once.counts(key, performance.now());
  }

  async #ask(text: string, direction: Direction, isPractice: boolean): Promise<Verdict> {
    try {
      const answer = isPractice
        ? await this.#device.practise(text, direction)
        : await this.#device.scan(text, direction);
      return { kind: 'answer', answer, isPractice };
    } catch (thrown) {
      return { kind: 'problem', problem: problemOf(thrown) };
    }
  }
}

function seen(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SEEN_MS_MIN));
}
