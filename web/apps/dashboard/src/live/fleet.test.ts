import { expect, test } from 'vitest';
import { aDevice } from '../testing.ts';
import { doubtsOf, LIST_OLD_SECONDS_MIN, uncertaintyOf } from './fleet.ts';

test('a fleet that speaks leaves nothing uncertain', () => {
  expect(uncertaintyOf([aDevice(), aDevice()], 10)).toEqual({
    silentDevices: 0,
    silentSeconds: 0,
    waiting: 0,
  });
});

test('counts the silent, for how long, and what waits on devices', () => {
  const fleet = [
    aDevice({ silent_seconds: 100, queue_length: 7 }),
    aDevice({ silent_seconds: 230, status: 'offline' }),
    aDevice({ silent_seconds: 5, queue_length: 2 }),
  ];
  expect(uncertaintyOf(fleet, 10)).toEqual({ silentDevices: 2, silentSeconds: 240, waiting: 9 });
});

test('silence grows while the page is not told anything new', () => {
  const fleet = [aDevice({ silent_seconds: 40 })];
  expect(uncertaintyOf(fleet, 20).silentDevices).toBe(0);
  expect(uncertaintyOf(fleet, 50).silentDevices).toBe(1);
});

test('a device that was put away, or never began, hides no scans', () => {
  const fleet = [
    aDevice({ silent_seconds: 9_000, status: 'inactive' }),
    aDevice({ silent_seconds: 9_000, is_revoked: true }),
    aDevice({ silent_seconds: null }),
  ];
  expect(uncertaintyOf(fleet, 0).silentDevices).toBe(0);
});

test('names what somebody should look at', () => {
  expect(doubtsOf(aDevice(), 0, 0)).toEqual([]);
  const troubled = aDevice({
    silent_seconds: 200,
    queue_length: 4,
    battery_percent: 12,
    clock_offset_seconds: -75,
  });
  expect(doubtsOf(troubled, 0, LIST_OLD_SECONDS_MIN)).toEqual([
    'silent',
    'queue',
    'battery',
    'clock',
    'list',
  ]);
  expect(doubtsOf(aDevice({ silent_seconds: null }), 0, null)).toEqual(['never_heard']);
});

test('a list that is seconds behind is no old one', () => {
  expect(doubtsOf(aDevice(), 0, 20)).toEqual([]);
  expect(doubtsOf(aDevice(), 0, LIST_OLD_SECONDS_MIN - 1)).toEqual([]);
  expect(doubtsOf(aDevice(), 0, LIST_OLD_SECONDS_MIN)).toEqual(['list']);
});
