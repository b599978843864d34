import { expect, test, vi } from 'vitest';
import { DeviceState, type Watched } from './device_state.svelte.ts';
import { aScan, aStatus } from './testing.ts';

function aDevice(changes: Partial<Watched> = {}): Watched {
  return {
    identity: null,
    standing: 'active',
    station: null,
    manifest: null,
    register: null,
    status: aStatus(),
    now: () => 0,
    onChange: () => () => undefined,
    ...changes,
  };
}

const IDENTITY = {
  api_key: 'vgd_1',
  device_id: 'd',
  name: 'North 1',
  organization_id: 'o',
  organization_name: 'Die Skuur',
  event_id: 'e',
  gate_id: 'g',
};

test('a device whose key was wiped is not paired, and still somebody’s', () => {
  expect(new DeviceState(aDevice()).isPaired).toBe(false);
  expect(new DeviceState(aDevice({ identity: IDENTITY })).isPaired).toBe(true);
  const wiped = new DeviceState(aDevice({ identity: { ...IDENTITY, api_key: null } }));
  expect(wiped.isPaired).toBe(false);
  expect(wiped.identity).not.toBeNull();
});

test.each([
  [null, null],
  [4_999, null],
  [-15_000, -15_000],
  [600_000, 600_000],
])('a clock that is off by %s ms is shown as %s', (clockOffsetMs, shown) => {
  const state = new DeviceState(aDevice({ status: aStatus({ clockOffsetMs }) }));
  expect(state.clockErrorMs).toBe(shown);
});

test('without a network nothing is being sent, it only waits', () => {
  const syncing = { done: 0, total: 3 };
  const sendingWhen = (reach: 'online' | 'offline') =>
    new DeviceState(aDevice({ status: aStatus({ pending: 3, syncing, reach }) })).sending;
  expect(sendingWhen('online')).toEqual(syncing);
  expect(sendingWhen('offline')).toBeNull();
});

test('follows the changes of the device until it is stopped', () => {
  let change: () => void = () => undefined;
  const leave = vi.fn();
  const onChange = (listener: () => void) => {
    change = listener;
    return leave;
  };
  const device = { ...aDevice({ onChange }) };
  const state = new DeviceState(device);
  const stop = state.follow();
  Object.assign(device, { status: aStatus({ pending: 3 }) });
  change();
  expect(state.status.pending).toBe(3);
  stop();
  expect(leave).toHaveBeenCalledOnce();
});

test('a gate has the name that the server gave last where no manifest has it', () => {
  const station = { gate_name: 'North Main' } as Watched['station'];
  expect(new DeviceState(aDevice({ identity: IDENTITY, station })).gateName).toBe('North Main');
  const moved = { ...IDENTITY, gate_id: null };
  expect(new DeviceState(aDevice({ identity: moved, station })).gateName).toBeNull();
});

test('scans are distinguished by the codes of their tickets', () => {
  const state = new DeviceState(aDevice());
  expect(state.ticketText(aScan({ barcode: 'abcd efgh jkmn' }))).toBe('ABCD-EFGH-JKMN');
  expect(state.ticketText(aScan({ barcode: 'https://example.com' }))).toBeNull();
});
