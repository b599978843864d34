import { readBarcode, readPresented } from '@voelgoed/rules';

/** The longest that a scanner may take between two keys; radio makes some of them late. */
export const KEY_GAP_MS_MAX = 120;
/** After a longer pause, more of a text that is none yet may follow for so long. */
export const JOIN_MS_MAX = 500;
/** The longest that keys may take on average, which no typist keeps up. */
export const AVERAGE_GAP_MS_MAX = 40;
/** Fewer characters are no code, however fast they came. */
export const CHARACTERS_MIN = 6;
export const CHARACTERS_MAX = 2_000;
/** An Enter that comes so late after a text that ended by a pause is still the scanner's. */
export const LATE_END_MS = 500;

const END_KEYS = new Set(['Enter', 'Tab']);
/** What a browser says of a key that an input method keeps to itself. */
const HIDDEN_KEYS = new Set(['Process', 'Unidentified']);
/** A placeholder for a character that no key event gave. */
const HIDDEN = '\ufffd';
const OURS = 'VG1';
const TYPED_IN =
  'textarea, select, [contenteditable]:not([contenteditable="false"]), input:not(' +
  ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit']
    .map((type) => `[type="${type}"]`)
    .join(', ') +
  ')';

export interface WedgeSettings {
  /** What the scanner is set up to put around every text; removed where it is there. */
  prefix: string;
  suffix: string;
}

export interface WedgeOptions {
  onRead: (text: string) => void;
  /** A scanner typed, and something on the device kept its keys from us. */
  onHidden?: () => void;
  settings?: WedgeSettings;
}

/** Scanners that pretend to be keyboards, by cable or Bluetooth. */
export class Wedge {
  settings: WedgeSettings;
  readonly #target: EventTarget;
  readonly #onRead: (text: string) => void;
  readonly #onHidden: () => void;
  #text = '';
  /** Where in it began what came after the last pause. */
  #partFrom = 0;
  /** How long it took to type, where a pause is no longer than the longest gap. */
  #typingMs = 0;
  #lastAt = -Infinity;
  #endedAt = -Infinity;
  /** Keys whose keydown was the scanner's: their keyup is too, and would click a focused button. */
  readonly #held = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(target: EventTarget, options: WedgeOptions) {
    this.#target = target;
    this.#onRead = options.onRead;
    this.#onHidden = options.onHidden ?? (() => undefined);
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
    const gapMs = at - this.#lastAt;
    if (gapMs > KEY_GAP_MS_MAX) this.#pause(gapMs);
    if (END_KEYS.has(event.key)) return this.#end(event, at);
    if (event.repeat) return this.#reset();
    const character = HIDDEN_KEYS.has(event.key) ? HIDDEN : event.key;
    // Shift and its like come between the characters.
    if ([...character].length !== 1) return;
    // Some scanners end with a control character: LF is typed as Ctrl and J, ETX as Ctrl and C.
    if (isShortcut(event)) return this.#end(event, at);
    this.#add(character, event, gapMs);
    this.#lastAt = at;
    if (this.#text.length > CHARACTERS_MAX) return this.#reset();
    this.#wait(KEY_GAP_MS_MAX, () => this.#pause(KEY_GAP_MS_MAX));
  }

  #add(character: string, event: KeyboardEvent, gapMs: number): void {
    if (this.#text !== '') {
      // A first key may be a person's: only what follows at once is kept from the page.
      if (gapMs <= KEY_GAP_MS_MAX || this.#isScanner()) this.#take(event);
      this.#typingMs += Math.min(gapMs, KEY_GAP_MS_MAX);
    }
    this.#text += character;
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

  /** Ends the text, unless it looks like the first part of one. */
  #pause(gapMs: number): void {
    const mayGoOn = this.#isSteady() && this.#whole() === null;
    if (!mayGoOn || gapMs > JOIN_MS_MAX) return this.#finish();
    this.#partFrom = this.#text.length;
    this.#wait(JOIN_MS_MAX - gapMs, () => this.#finish());
  }

  #isSteady(): boolean {
    return this.#typingMs <= AVERAGE_GAP_MS_MAX * (this.#text.length - 1);
  }

  #isScanner(): boolean {
    return this.#text.length >= CHARACTERS_MIN && this.#isSteady();
  }

  /** A code or a barcode of ours; null where the text is something else, or a part of one. */
  #whole(): string | null {
    const text = this.#stripped(this.#text);
    if (isWhole(text)) return text;
    // Somebody may have touched a key before the scanner began.
    const part = this.#stripped(this.#text.slice(this.#partFrom));
    return readBarcode(part) ? part : null;
  }

  #finish(): void {
    const text = this.#isScanner() ? (this.#whole() ?? this.#stripped(this.#text)) : '';
    if (text !== '') this.#endedAt = this.#lastAt;
    this.#reset();
    if (text.includes(HIDDEN)) this.#onHidden();
    else if (text !== '') this.#onRead(text);
  }

  #reset(): void {
    clearTimeout(this.#timer);
    this.#text = '';
    this.#partFrom = 0;
    this.#typingMs = 0;
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
  }

  #stripped(typed: string): string {
    const { prefix, suffix } = this.settings;
    let text = typed;
    if (prefix !== '' && text.startsWith(prefix)) text = text.slice(prefix.length);
    if (suffix !== '' && text.endsWith(suffix)) text = text.slice(0, -suffix.length);
    return withCapitals(text);
  }
}

/** The first twelve characters of a barcode would be a code too. */
function isWhole(text: string): boolean {
  return text.startsWith(OURS) ? readBarcode(text) !== null : readPresented(text) !== null;
}

/** With CapsLock on, a scanner's capitals come as small letters; barcodes of ours have none. */
function withCapitals(text: string): string {
  return text.startsWith(OURS.toLowerCase()) ? text.toUpperCase() : text;
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
