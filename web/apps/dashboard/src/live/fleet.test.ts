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
    aDevice({ silent_seconds: 320, status: 'offline', queue_length: 7 }),
    aDevice({ silent_seconds: 450, status: 'offline' }),
    aDevice({ silent_seconds: 5, queue_length: 2 }),
  ];
  expect(uncertaintyOf(fleet, 10)).toEqual({ silentDevices: 2, silentSeconds: 460, waiting: 9 });
});

test('the server alone decides which device is silent', () => {
  const fleet = [
    aDevice({ silent_seconds: 299 }),
    aDevice({ silent_seconds: 1, status: 'offline' }),
  ];
  expect(uncertaintyOf(fleet, 60)).toMatchObject({ silentDevices: 1, silentSeconds: 61 });
  expect(fleet.map((device) => doubtsOf(device, null))).toEqual([[], ['silent']]);
});

test('a device that was put away hides no scans', () => {
  const fleet = [
    aDevice({ silent_seconds: 9_000, status: 'inactive' }),
    aDevice({ silent_seconds: 9_000, is_revoked: true }),
  ];
  expect(uncertaintyOf(fleet, 0).silentDevices).toBe(0);
});

test('names what somebody should look at', () => {
  expect(doubtsOf(aDevice(), 0)).toEqual([]);
  const troubled = aDevice({
    silent_seconds: 400,
    status: 'offline',
    queue_length: 4,
    battery_percent: 12,
    clock_offset_seconds: -75,
  });
  expect(doubtsOf(troubled, LIST_OLD_SECONDS_MIN)).toEqual([
    'silent',
    'queue',
    'battery',
    'clock',
    'list',
  ]);
});

test('a list that is seconds behind is no old one', () => {
  expect(doubtsOf(aDevice(), 20)).toEqual([]);
  expect(doubtsOf(aDevice(), LIST_OLD_SECONDS_MIN - 1)).toEqual([]);
  expect(doubtsOf(aDevice(), LIST_OLD_SECONDS_MIN)).toEqual(['list']);
});
