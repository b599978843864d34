import { expect, test } from 'vitest';
import { readCode } from './codes.ts';
import { readPresented } from './presented.ts';

const CODE = '7K2M-9QXD-4F1A';

test.each([
  CODE,
  '7K2M9QXD4F1A',
  '7k2m 9qxd 4f1a',
  ' 7K2M-9qxd4F1A\r\n',
  '\x1f\x85\u30007K2M-9QXD-4F1A\u2028',
])('a code may be typed as %j', (text) => {
  expect(readCode(text)).toBe(CODE);
});

test.each([
  '',
  '7K2M-9QXD-4F1',
  '7K2M-9QXD-4F1A7',
  '7K2M--9QXD-4F1A',
  '7K2M_9QXD_4F1A',
  '7K2-M9QXD-4F1A',
  '-7K2M-9QXD-4F1A',
  '\uff17K2M-9QXD-4F1A',
  '7\u017f2M-9QXD-4F1A',
  '7\u212a2M-9QXD-4F1A',
  '\ufeff7K2M-9QXD-4F1A',
])('a code is not %j', (text) => {
  expect(readCode(text)).toBeNull();
});

test('nothing is corrected: a code that was sold elsewhere may have any letter', () => {
  expect(readCode('OOII-LLUU-0011')).toBe('OOII-LLUU-0011');
});

test('up to twenty characters were typed, more were scanned', () => {
  const blanks = ' '.repeat(20 - CODE.length);
  expect(readPresented(CODE + blanks)).toMatchObject({ code: CODE, isTyped: true });
  expect(readPresented(`${CODE} ${blanks}`)).toBeNull();
  const barcode = 'VG17K2M9QXD4F1A and more';
  expect(readPresented(barcode)).toEqual({ text: barcode, code: CODE, isTyped: false });
  expect(readPresented('VG17K2M9QXD4F1A'.padEnd(20))).toBeNull();
  expect(readPresented('VG17K2M9QXD4F1A\u{1f39f}\u{1f39f}\u{1f39f}')).toBeNull();
  expect(readPresented(barcode.toLowerCase())).toBeNull();
  expect(readPresented(` ${barcode}`)).toBeNull();
});
