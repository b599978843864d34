import { Refused, ServerAway, type Identity } from '@voelgoed/device';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { COLLECT_EVERY_MS, Pairing, tokenIn } from './pairing.svelte.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const IDENTITY = { device_id: 'a', name: 'North 1' } as Identity;

function aDevice() {
  return {
    pair: vi.fn(async (_token: string) => IDENTITY),
    askForApproval: vi.fn(async () => ({ token: 'secret', challenge: 'shown' })),
    collect: vi.fn(async (_token: string): Promise<Identity | null> => null),
  };
}

test.each([
  ['7k2m 9qxd e4tr', 'as somebody types it'],
  ['7K2M-9QXD-E4TR', 'as it is written'],
  ['https://gates.example/scanner/#/pair/7K2M-9QXD-E4TR', 'at the end of an address'],
  ['https://gates.example/scanner/?pairing_token=7K2M9QXDE4TR', 'as a parameter'],
])('a token is found in %s, %s', (text) => {
  expect(tokenIn(text)).toBe('7K2M-9QXD-E4TR');
});

test('a text that is no token never reaches the server', async () => {
  const device = aDevice();
  const pairing = new Pairing(device);
  await pairing.give('hello');
  expect(device.pair).not.toHaveBeenCalled();
  expect(pairing.problem?.code).toBe('token_unreadable');
});

test.each([
  [new Refused('pairing_token_not_found', 'No.'), 'pairing_token_not_found'],
  [new Refused('too_many_devices', 'No.'), 'too_many_devices'],
  [new Refused('device_already_paired', 'No.'), 'device_already_paired'],
  [new Refused('pairing_for_another_device', 'No.'), 'pairing_for_another_device'],
  [new ServerAway(), 'server_away'],
])('a failed step says what is wrong: %s', async (fault, code) => {
  const device = aDevice();
  device.pair.mockRejectedValueOnce(fault);
  const pairing = new Pairing(device);
  pairing.choose('type');
  await pairing.give('7K2M-9QXD-E4TR');
  expect(pairing.problem?.code).toBe(code);
  expect(pairing.way).toBe('type');
  expect(pairing.isBusy).toBe(false);
});

test('once it is paired, the next thing can begin', async () => {
  const onPaired = vi.fn();
  const pairing = new Pairing(aDevice(), onPaired);
  pairing.isWanted = true;
  await pairing.give('7K2M-9QXD-E4TR');
  expect(onPaired).toHaveBeenCalledOnce();
  expect(pairing.isWanted).toBe(false);
});

test('a device that shows its own code asks until it was approved, also through an outage', async () => {
  const device = aDevice();
  const onPaired = vi.fn();
  const pairing = new Pairing(device, onPaired);
  pairing.choose('show');
  await vi.advanceTimersByTimeAsync(0);
  expect(pairing.challenge).toBe('shown');

  device.collect.mockRejectedValueOnce(new ServerAway());
  await vi.advanceTimersByTimeAsync(COLLECT_EVERY_MS);
  expect(pairing.problem?.code).toBe('server_away');

  await vi.advanceTimersByTimeAsync(COLLECT_EVERY_MS);
  expect(pairing.problem).toBeNull();
  device.collect.mockResolvedValueOnce(IDENTITY);
  await vi.advanceTimersByTimeAsync(COLLECT_EVERY_MS);
  expect(device.collect).toHaveBeenLastCalledWith('secret');
  expect(onPaired).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(device.collect).toHaveBeenCalledTimes(3);
});

test('a device that was approved as a new one shows another code, and explains what to ask for', async () => {
  const device = aDevice();
  const pairing = new Pairing(device);
  pairing.choose('show');
  await vi.advanceTimersByTimeAsync(0);
  device.collect.mockRejectedValueOnce(new Refused('device_already_paired', 'No.'));
  device.askForApproval.mockResolvedValueOnce({ token: 'another', challenge: 'shown anew' });
  await vi.advanceTimersByTimeAsync(COLLECT_EVERY_MS);
  expect(pairing.challenge).toBe('shown anew');
  await vi.advanceTimersByTimeAsync(COLLECT_EVERY_MS);
  expect(device.collect).toHaveBeenLastCalledWith('another');
  expect(pairing.problem?.code).toBe('device_already_paired');
  device.collect.mockResolvedValueOnce(IDENTITY);
  await vi.advanceTimersByTimeAsync(COLLECT_EVERY_MS);
  expect([pairing.way, pairing.problem]).toEqual([null, null]);
});

test('after going back the page does not go on asking', async () => {
  const device = aDevice();
  const pairing = new Pairing(device);
  pairing.choose('show');
  await vi.advanceTimersByTimeAsync(0);
  pairing.choose(null);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(device.collect).not.toHaveBeenCalled();
});
