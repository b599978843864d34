import { expect, test } from 'vitest';
import { calendarDay, dateTime, dateTimeRange, timeRange } from './dates.ts';

const ZONE = 'Africa/Johannesburg';
const EN = 'en-ZA';

test('shows the clock of the venue, wherever the reader is', () => {
  expect(dateTime('2026-12-04T16:00:00Z', ZONE, EN)).toBe('Fri, 04 Dec 2026, 18:00 SAST');
  expect(dateTime('2026-12-04T16:00:00Z', 'Asia/Tokyo', EN)).toContain('Sat, 05 Dec 2026, 01:00');
});

test('names the day once when it begins and ends on it', () => {
  const range = dateTimeRange('2026-12-04T16:00:00Z', '2026-12-04T20:30:00Z', ZONE, EN);
  expect(range.match(/Dec/g)).toHaveLength(1);
  expect(range).toMatch(/18:00\s?–\s?22:30/);
});

test('names both days of a longer event, and the zone once', () => {
  const range = dateTimeRange('2026-12-04T16:00:00Z', '2026-12-06T20:30:00Z', ZONE, EN);
  expect(range).toContain('04 Dec');
  expect(range).toContain('06 Dec');
  expect(range.match(/SAST/g)).toHaveLength(1);
});

test('names both zones when the clock changes in between', () => {
  const range = dateTimeRange('2026-10-24T20:00:00Z', '2026-10-25T20:00:00Z', 'Europe/London', EN);
  expect(range).toMatch(/21:00 (BST|GMT\+1) – Sun, 25 Oct 2026, 20:00 GMT$/);
});

test('separates the day from its hours, also where they pass midnight', () => {
  expect(calendarDay('2026-12-04', EN)).toBe('Fri, 04 Dec 2026');
  expect(timeRange('2026-12-04T16:00:00Z', '2026-12-05T04:00:00Z', ZONE, EN)).toBe('18:00–06:00');
});

test('a zone that the browser does not know falls back to UTC and says so', () => {
  expect(dateTime('2026-12-04T16:00:00Z', 'Mars/Olympus', EN)).toBe('Fri, 04 Dec 2026, 16:00 UTC');
});

test('another language has its own names of days and months', () => {
  expect(calendarDay('2026-12-04', 'af-ZA')).toMatch(/^Vr/);
  expect(dateTime('2026-12-04T17:00:00Z', 'Africa/Johannesburg', 'af-ZA')).toMatch(/Des.*19:00/);
});
