import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { JOIN_MS_MAX, LATE_END_MS, Wedge, type WedgeSettings } from './wedge.ts';

/** The first of contracts/barcodes.json. */
const BARCODE =
  'VG17K2M9QXD4F1AW50ZCIDSM7DW%20000000000.D5V503H0%E0 .03KH000000000400ZA8*96QKN- ' +
  '7MCO*4MPZR3N0O4GSBOD1U7E6TPB:RTEZI$O3Z46X8W-/EQ9MZDFI350.JSQS/U5.*O*XC7WTK3E:HL HRISSH-JPBM';
const CODE = '3KQR-7F92-4M1X';
const SCANNER_MS = 8;
const TYPIST_MS = 130;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Key extends Event {
  readonly isComposing = false;
  constructor(
    type: string,
    readonly key: string,
    readonly repeat = false,
    readonly ctrlKey = false,
    readonly altKey = false,
    readonly metaKey = false,
  ) {
    super(type, { cancelable: true });
    const at = Date.now();
    Object.defineProperty(this, 'timeStamp', { get: () => at });
  }
  getModifierState(name: string): boolean {
    return name === 'AltGraph' && this.altKey && this.ctrlKey;
  }
}

class Field extends EventTarget {
  closest(): this {
    return this;
  }
}

function setUp(settings?: WedgeSettings, target = new EventTarget()) {
  const read: string[] = [];
  const onHidden = vi.fn();
  const wedge = new Wedge(target, {
    onRead: (text) => read.push(text),
    onHidden,
    ...(settings && { settings }),
  });
  const stop = wedge.start();
  /** Whether the page was kept from doing what it does at this key. */
  const press = (key: string, afterMs: number, ...more: [boolean?, boolean?, boolean?]) => {
    vi.advanceTimersByTime(afterMs);
    const isTaken = !target.dispatchEvent(new Key('keydown', key, ...more));
    target.dispatchEvent(new Key('keyup', key));
    return isTaken;
  };
  const type = (text: string, gapMs: number) => {
    for (const key of text) {
      if (/[A-Z$%*+:]/.test(key)) target.dispatchEvent(new Key('keydown', 'Shift'));
      press(key, gapMs);
    }
  };
  return { read, onHidden, wedge, press, type, stop, target };
}

test.each(['Enter', 'Tab'])('a barcode that ends with %s is read whole', (end) => {
  const { read, press, type } = setUp();
  type(BARCODE, SCANNER_MS);
  expect(press(end, SCANNER_MS)).toBe(true);
  expect(read).toEqual([BARCODE]);
});

test('a barcode that nothing ends is read after a pause, and its late Enter clicks nothing', () => {
  const { read, press, type } = setUp();
  type(BARCODE, SCANNER_MS);
  vi.advanceTimersByTime(200);
  expect(read).toEqual([BARCODE]);
  expect(press('Enter', 100)).toBe(true);
  expect(press('Enter', 50)).toBe(false);
});

test('a scanner that ends with two Enters clicks nothing', () => {
  const { read, press, type } = setUp();
  for (let scan = 1; scan <= 3; scan += 1) {
    type(BARCODE, SCANNER_MS);
    expect(press('Enter', SCANNER_MS)).toBe(true);
    expect(press('Enter', SCANNER_MS)).toBe(true);
    expect(read).toHaveLength(scan);
  }
});

test('Enter or a blank on a button clicks it', () => {
  const { read, press, type } = setUp();
  expect(press('Enter', 1_000)).toBe(false);
  expect(press(' ', 1_000)).toBe(false);
  vi.advanceTimersByTime(1_000);
  type(BARCODE, SCANNER_MS);
  press('Enter', SCANNER_MS);
  expect(press('Enter', LATE_END_MS + 1)).toBe(false);
  expect(read).toEqual([BARCODE]);
});

test('a blank inside a barcode clicks nothing', () => {
  const { press, type, target } = setUp();
  type('VG1', SCANNER_MS);
  const seen = vi.fn();
  target.addEventListener('keyup', seen);
  expect(press(' ', SCANNER_MS)).toBe(true);
  expect(seen).not.toHaveBeenCalled();
});

test('a person’s typing is no scan, and none of its keys is swallowed', () => {
  const { read, press, type } = setUp();
  type('7K2M-9QXD-4F1A', TYPIST_MS);
  expect(press('Enter', TYPIST_MS)).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(read).toEqual([]);
});

test('a few fast keys of a person are no scan', () => {
  const { read, press, type } = setUp();
  type('abc', 20);
  expect(press('Enter', 20)).toBe(false);
  expect(read).toEqual([]);
});

test('a key held down is no scan', () => {
  const { read, press } = setUp();
  for (let count = 0; count < 50; count += 1) press('x', 30, count > 0);
  vi.advanceTimersByTime(1_000);
  expect(read).toEqual([]);
});

test('a barcode whose radio stutters is still one text', () => {
  const { read, press, type } = setUp();
  type(BARCODE.slice(0, 30), SCANNER_MS);
  vi.advanceTimersByTime(90);
  type(BARCODE.slice(30), SCANNER_MS);
  press('Enter', SCANNER_MS);
  expect(read).toEqual([BARCODE]);
});

test('two barcodes without an end are two, with a pause between them', () => {
  const { read, type } = setUp();
  type(BARCODE, SCANNER_MS);
  vi.advanceTimersByTime(300);
  type(CODE, SCANNER_MS);
  vi.advanceTimersByTime(300);
  expect(read).toEqual([BARCODE, CODE]);
});

test.each([1, 3, 12, 15, 40])('a barcode that stops for a while after %i is one text', (after) => {
  const { read, press, type } = setUp();
  type(BARCODE.slice(0, after), SCANNER_MS);
  vi.advanceTimersByTime(JOIN_MS_MAX - 50);
  type(BARCODE.slice(after), SCANNER_MS);
  press('Enter', SCANNER_MS);
  expect(read).toEqual([BARCODE]);
});

test('a barcode that stops twice, and that nothing ends, is one text', () => {
  const { read, type } = setUp();
  for (const part of [BARCODE.slice(0, 50), BARCODE.slice(50, 60), BARCODE.slice(60)]) {
    vi.advanceTimersByTime(300);
    type(part, SCANNER_MS);
  }
  vi.advanceTimersByTime(JOIN_MS_MAX);
  expect(read).toEqual([BARCODE]);
});

test('a text of somebody else that nothing ends is read too, when nothing follows', () => {
  const { read, type } = setUp();
  type('https://example.com/menu', SCANNER_MS);
  vi.advanceTimersByTime(300);
  expect(read).toEqual([]);
  vi.advanceTimersByTime(JOIN_MS_MAX);
  expect(read).toEqual(['https://example.com/menu']);
});

test('a key that somebody touched before the scanner began is not a part of the barcode', () => {
  const { read, press, type } = setUp();
  press('x', 1_000);
  vi.advanceTimersByTime(300);
  type(BARCODE, SCANNER_MS);
  press('Enter', SCANNER_MS);
  expect(read).toEqual([BARCODE]);
});

test.each([
  ['LF', ['j']],
  ['ETX', ['c']],
  ['CR and LF', ['m', 'j']],
])('a barcode that ends with %s is read, and no shortcut of the browser is used', (_, ends) => {
  const { read, press, type } = setUp();
  type(BARCODE, SCANNER_MS);
  press('Control', SCANNER_MS, false, true);
  for (const end of ends) expect(press(end, SCANNER_MS, false, true)).toBe(true);
  vi.advanceTimersByTime(1_000);
  expect(read).toEqual([BARCODE]);
});

test('shortcuts of a person are theirs', () => {
  const { read, press, type } = setUp();
  expect(press('r', 1_000, false, true)).toBe(false);
  type('abc', TYPIST_MS);
  expect(press('r', TYPIST_MS, false, true)).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(read).toEqual([]);
});

test.each(['Process', 'Unidentified'])('keys that come as %s are told, once a text', (key) => {
  const { read, onHidden, press } = setUp();
  for (const scan of [1, 2]) {
    for (let count = 0; count < 14; count += 1) press(key, SCANNER_MS);
    press('Enter', SCANNER_MS);
    vi.advanceTimersByTime(1_000);
    expect(onHidden).toHaveBeenCalledTimes(scan);
  }
  expect(read).toEqual([]);
});

test('a person’s keys with other effects are not touched', () => {
  const { onHidden, press } = setUp();
  for (let count = 0; count < 14; count += 1) press('Unidentified', TYPIST_MS);
  press('Enter', TYPIST_MS);
  expect(onHidden).not.toHaveBeenCalled();
});

test('prefix and suffix of the scanner are removed where they are there', () => {
  const { read, press, type } = setUp({ prefix: ']Q1', suffix: '##' });
  type(`]Q1${BARCODE}##`, SCANNER_MS);
  press('Enter', SCANNER_MS);
  type(BARCODE, SCANNER_MS);
  press('Enter', SCANNER_MS);
  expect(read).toEqual([BARCODE, BARCODE]);
});

test('a blank at the end of a barcode belongs to it', () => {
  const { read, press, type } = setUp();
  type('VG1ABC ', SCANNER_MS);
  press('Enter', SCANNER_MS);
  expect(read).toEqual(['VG1ABC ']);
});

test('capitals that CapsLock made small are capitals again', () => {
  const { read, press, type } = setUp();
  type(BARCODE.toLowerCase(), SCANNER_MS);
  press('Enter', SCANNER_MS);
  expect(read).toEqual([BARCODE]);
});

test('characters that need AltGr are characters', () => {
  const { read, press, type } = setUp();
  type('VG1ABC', SCANNER_MS);
  // As Windows tells of AltGr: a Control that nobody pressed.
  press('Control', SCANNER_MS, false, true);
  press('$', SCANNER_MS, false, true, true);
  press('Enter', SCANNER_MS);
  expect(read).toEqual(['VG1ABC$']);
});

test('a field keeps whatever is typed or scanned into it, Enter too', () => {
  const { read, press, type } = setUp(undefined, new Field());
  type(BARCODE, SCANNER_MS);
  expect(press('Enter', SCANNER_MS)).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(read).toEqual([]);
});

test('after it was stopped nothing is read', () => {
  const { read, press, type, stop } = setUp();
  type(BARCODE, SCANNER_MS);
  stop();
  expect(press('Enter', SCANNER_MS)).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(read).toEqual([]);
});
