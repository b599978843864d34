import { expect, test } from 'vitest';
import { momentText, parseMoment, readMoment } from './moments.ts';

test.each([
  ['2026-11-16T17:45:01.123001Z', '2026-11-16T17:45:01.123001Z'],
  ['2026-11-16T17:45:01Z', '2026-11-16T17:45:01.000000Z'],
  ['2026-11-16T17:45:01.5Z', '2026-11-16T17:45:01.500000Z'],
  ['2026-11-16T19:45:01.000001+02:00', '2026-11-16T17:45:01.000001Z'],
  ['2026-11-16T23:45:00-03:30', '2026-11-17T03:15:00.000000Z'],
  ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
])('%s is the moment %s', (text, written) => {
  expect(momentText(parseMoment(text))).toBe(written);
});

test('microseconds are exact for as long as events are held', () => {
  const last = parseMoment('2199-12-31T23:59:59.999999Z');
  expect(Number.isSafeInteger(last)).toBe(true);
  expect(last - parseMoment('2199-12-31T23:59:59.999998Z')).toBe(1);
});

test.each([
  '',
  '2026-11-16',
  '2026-11-16T17:45:01',
  '2026-11-16 17:45:01Z',
  '2026-11-16T17:45Z',
  '2026-02-30T17:45:01Z',
  '2026-11-16T24:00:00Z',
  '2026-11-16T17:45:01.1234567Z',
  '2026-11-16T17:45:01+25:00',
  ' 2026-11-16T17:45:01Z',
  '2026-11-16T17:45:01Z\n',
])('%j is no moment', (text) => {
  expect(readMoment(text)).toBeNull();
  expect(() => parseMoment(text)).toThrow(RangeError);
});
