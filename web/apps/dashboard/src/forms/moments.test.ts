import { expect, test } from 'vitest';
import { instantOf, localOf } from './moments.ts';

const CAPE_TOWN = 'Africa/Johannesburg';
const BERLIN = 'Europe/Berlin';
const NEW_YORK = 'America/New_York';

test('a moment is on the clock of the venue, wherever the browser is', () => {
  expect(localOf('2026-12-04T17:30:00Z', CAPE_TOWN)).toBe('2026-12-04T19:30');
  expect(instantOf('2026-12-04T19:30', CAPE_TOWN)).toBe('2026-12-04T17:30:00Z');
  expect(localOf('2026-12-31T22:30:00Z', CAPE_TOWN)).toBe('2027-01-01T00:30');
  expect(instantOf('2027-01-01T00:30', CAPE_TOWN)).toBe('2026-12-31T22:30:00Z');
});

test('summer and winter have their own clocks', () => {
  expect(instantOf('2026-07-01T20:00', BERLIN)).toBe('2026-07-01T18:00:00Z');
  expect(instantOf('2026-12-01T20:00', BERLIN)).toBe('2026-12-01T19:00:00Z');
  expect(instantOf('2026-07-01T20:00', NEW_YORK)).toBe('2026-07-02T00:00:00Z');
});

test('zones that differ by less than an hour are exact', () => {
  expect(instantOf('2026-07-01T20:00', 'Asia/Kathmandu')).toBe('2026-07-01T14:15:00Z');
  expect(instantOf('2026-07-01T20:00', 'Australia/Lord_Howe')).toBe('2026-07-01T09:30:00Z');
});

test('an hour that happens twice is the first of both', () => {
  expect(instantOf('2026-10-25T02:30', BERLIN)).toBe('2026-10-25T00:30:00Z');
  expect(localOf('2026-10-25T00:30:00Z', BERLIN)).toBe('2026-10-25T02:30');
  expect(localOf('2026-10-25T01:30:00Z', BERLIN)).toBe('2026-10-25T02:30');
  expect(instantOf('2026-11-01T01:30', NEW_YORK)).toBe('2026-11-01T05:30:00Z');
});

test('an hour that does not happen is refused, and its neighbours are not', () => {
  expect(instantOf('2026-03-29T01:59', BERLIN)).toBe('2026-03-29T00:59:00Z');
  expect(instantOf('2026-03-29T02:30', BERLIN)).toBe('does not exist');
  expect(instantOf('2026-03-29T03:00', BERLIN)).toBe('2026-03-29T01:00:00Z');
});

test('what is no date and time is no moment', () => {
  for (const typed of ['', '2026-12-04', '2026-13-04T10:00', '19:30', '12026-12-04T10:00']) {
    expect(instantOf(typed, CAPE_TOWN)).toBe('is no moment');
  }
});

test('whatever is typed comes back, in every kind of zone and through the year', () => {
  for (const zone of [CAPE_TOWN, BERLIN, NEW_YORK, 'Australia/Lord_Howe', 'Pacific/Apia']) {
    for (let hour = 0; hour < 366 * 24; hour += 13) {
      const instant = new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
      const local = localOf(instant, zone);
      expect(localOf(instantOf(local, zone), zone)).toBe(local);
    }
  }
});
