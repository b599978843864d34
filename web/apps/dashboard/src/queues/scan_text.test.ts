import { expect, test } from 'vitest';
import { LANGUAGES } from '../messages/index.ts';
import { doubtsText, rulingText } from './scan_text.ts';

const { en } = LANGUAGES;

test('says why a scan waits, and nothing twice', () => {
  const text = (facts: Parameters<typeof doubtsText>[1]) => doubtsText(en, facts);
  expect(text({ doubts: [], unverified: null })).toBe('None');
  expect(text({ doubts: [], unverified: 'outside_event_time' })).toBe('Outside the event’s time');
  expect(text({ doubts: ['before_pairing'], unverified: 'before_assignment' })).toBe(
    'Before the device was ours · Before the device was at this event',
  );
  expect(text({ doubts: ['from_future'], unverified: 'from_future' })).toBe('From the future');
});

test('says what was decided about a scan', () => {
  expect(rulingText(en, { status: 'admitted', reason_denied: null })).toBe('Counts as admitted');
  expect(rulingText(en, { status: 'denied', reason_denied: 'wrong_gate' })).toBe('Wrong gate');
  expect(rulingText(en, { status: 'denied', reason_denied: null })).toBe('Turned away');
});
