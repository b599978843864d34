/** The longest that a scanner may take between two keys; radio makes some of them late. */
export const KEY_GAP_MS_MAX = 120;
/** The longest that they may take on average, which no typist keeps up. */
export const AVERAGE_GAP_MS_MAX = 40;
/** Fewer characters are no code, however fast they came. */
export const CHARACTERS_MIN = 6;
export const CHARACTERS_MAX = 2_000;
/** An Enter that comes so late after a text that ended by a pause is still the scanner's. */
export const LATE_END_MS = 500;

const END_KEYS = new Set(['Enter', 'Tab']);
const TYPED_IN =
  'textarea, select, [contenteditable]:not([contenteditable="false"]), input:not(' +
  ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit']
    .map((type) => `[type="${type}"]`)
    .join(', ') +
  ')';

export interface WedgeSettings {
  /** What the scanner puts around every text, as it is set up; taken away where it is there. */
  prefix: string;
  suffix: string;
}

export interface WedgeOptions {
  onRead: (text: string) => void;
  settings?: WedgeSettings;
}

/** Scanners that pretend to be keyboards, by cable or Bluetooth. */
export class Wedge {
  settings: WedgeSettings;
  readonly #target: EventTarget;
  readonly #onRead: (text: string) => void;
  #text = '';
  #firstAt = 0;
  #lastAt = -Infinity;
  #endedAt = -Infinity;
  /** Keys whose keydown was the scanner's: their keyup is too, and would click a focused button. */
  readonly #held = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(target: EventTarget, options: WedgeOptions) {
    this.#target = target;
    this.#onRead = options.onRead;
    this.settings = options.settings ?? { prefix: '', suffix: '' };
  }

  /** Listens until the returned function is called. */
  start(): () => void {
    const down = (event: Event) => this.#down(event as KeyboardEvent);
    const up = (event: Event) => this.#up(event as KeyboardEvent);
    // Before whatever is focused sees them.
    this.#target.addEventListener('keydown', down, { capture: true });
    this.#target.addEventListener('keyup', up, { capture: true });
    return () => {
      this.#target.removeEventListener('keydown', down, { capture: true });
      this.#target.removeEventListener('keyup', up, { capture: true });
      this.#reset();
    };
  }

  #down(event: KeyboardEvent): void {
    if (event.isComposing || isTypedIn(event)) return this.#reset();
    const at = event.timeStamp;
    if (at - this.#lastAt > KEY_GAP_MS_MAX) this.#finish();
    if (END_KEYS.has(event.key)) return this.#end(event, at);
    if (event.repeat || isShortcut(event)) return this.#reset();
    // Shift and its like come between the characters.
    if ([...event.key].length !== 1) return;
    // A first key may be a person's: only what follows at once is kept from the page.
    if (this.#text !== '') this.#take(event);
    else this.#firstAt = at;
    this.#text += event.key;
    this.#lastAt = at;
    if (this.#text.length > CHARACTERS_MAX) return this.#reset();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#finish(), KEY_GAP_MS_MAX);
  }

  #up(event: KeyboardEvent): void {
    if (!this.#held.delete(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #end(event: KeyboardEvent, at: number): void {
    const isLate = at - this.#endedAt <= LATE_END_MS;
    if (this.#isScanner() || (isLate && this.#text === '')) this.#take(event);
    // A person who presses Enter after that means it.
    this.#endedAt = -Infinity;
    this.#finish();
  }

  #take(event: KeyboardEvent): void {
    this.#held.add(event.key);
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #isScanner(): boolean {
    const { length } = this.#text;
    if (length < CHARACTERS_MIN) return false;
    return this.#lastAt - this.#firstAt <= AVERAGE_GAP_MS_MAX * (length - 1);
  }

  #finish(): void {
    const text = this.#isScanner() ? this.#stripped() : '';
    if (text !== '') this.#endedAt = this.#lastAt;
    this.#reset();
    if (text !== '') this.#onRead(text);
  }

  #reset(): void {
    clearTimeout(this.#timer);
    this.#text = '';
  }

  #stripped(): string {
    const { prefix, suffix } = this.settings;
    let text = this.#text;
    if (prefix !== '' && text.startsWith(prefix)) text = text.slice(prefix.length);
    if (suffix !== '' && text.endsWith(suffix)) text = text.slice(0, -suffix.length);
    return withCapitals(text);
  }
}

/** With CapsLock on, a scanner's capitals come as small letters; barcodes of ours have none. */
function withCapitals(text: string): string {
  return text.startsWith('vg1') ? text.toUpperCase() : text;
}

function isTypedIn(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0] as Partial<Element> | undefined;
  return target?.closest?.(TYPED_IN) != null;
}

/** AltGr is Ctrl and Alt at once on some systems, and writes characters. */
function isShortcut(event: KeyboardEvent): boolean {
  if (event.getModifierState('AltGraph')) return false;
  return event.ctrlKey || event.altKey || event.metaKey;
}
