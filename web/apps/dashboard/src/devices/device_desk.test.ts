import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { aDevice } from '../testing.ts';
import { DeviceDesk, pairingFaults } from './device_desk.svelte.ts';

const HASH = 'ab'.repeat(32);
const device = aDevice({ id: 'd', version: 7 });

function aServer(sent: unknown[] = []): Answers {
  return {
    'GET /api/events/event/gates': () => json(200, { data: [{ id: 'g', name: 'North' }] }),
    'GET /api/scanning/events/event/manifest-status': () =>
      json(200, { data: { manifest_version: 3 } }),
    'GET /api/scanning/devices': () => json(200, { data: [device], next: null }),
    'POST /api/scanning/pairings': async (request) => {
      const asked = (await request.json()) as {
        name: string;
        challenge?: string;
        replaces_device_id?: string;
      };
      sent.push(asked);
      const pairing_token = asked.challenge ? null : '7K2M-9QXD-E4TR';
      const replaces_device_id = asked.replaces_device_id ?? null;
      const expires_at = '2030-01-01T10:05:00Z';
      return json(201, { data: { ...asked, replaces_device_id, pairing_token, expires_at } });
    },
  };
}

async function theDesk(answers: Answers): Promise<DeviceDesk> {
  const desk = new DeviceDesk(anApi(answers), 'event');
  await desk.load();
  return desk;
}

test('a token is made for a device that has none of its own', async () => {
  const sent: unknown[] = [];
  const desk = await theDesk(aServer(sent));
  expect(await desk.pair({ gateId: 'g', name: ' iPad ', challenge: '' })).toBe(true);
  expect(sent).toEqual([{ gate_id: 'g', name: 'iPad', device_type: 'phone' }]);
  expect(desk.pairing?.pairing_token).toBe('7K2M-9QXD-E4TR');
  expect(desk.approved).toBeUndefined();
  desk.finishPairing();
  expect(desk.pairing).toBeUndefined();
});

test('the token is gone when the device that it was for has come', async () => {
  const answers = aServer();
  const desk = await theDesk(answers);
  await desk.pair({ gateId: 'g', name: device.name, challenge: '' });
  expect(desk.pairing).toBeDefined(); // one of that name was there before
  const devices = [device, aDevice({ id: 'new', name: device.name })];
  answers['GET /api/scanning/devices'] = () => json(200, { data: devices, next: null });
  await desk.load();
  expect([desk.pairing, desk.arrived]).toEqual([undefined, device.name]);
});

test.each([false, true])(
  'only who chooses to pair a device again lets it be taken over, by its own code: %s',
  async (showsItsOwn) => {
    const sent: unknown[] = [];
    const answers = aServer(sent);
    const desk = await theDesk(answers);
    desk.startPairingAgain(device);
    const form = { gateId: 'g', name: device.name, challenge: showsItsOwn ? HASH : '' };
    await desk.pair(form);
    expect(sent).toEqual([
      {
        gate_id: 'g',
        name: device.name,
        device_type: device.device_type,
        replaces_device_id: 'd',
        ...(showsItsOwn && { challenge: HASH }),
      },
    ]);
    expect(desk.replaced).toBeUndefined();
    await desk.pair({ ...form, name: 'Another' });
    expect(sent[1]).not.toHaveProperty('replaces_device_id');
    desk.startPairingAgain(device);
    desk.cancelPairingAgain();
    await desk.pair({ ...form, name: 'A third' });
    expect(sent[2]).not.toHaveProperty('replaces_device_id');
  },
);

test('the token of a device that is paired again is gone once it was paired', async () => {
  const answers = aServer();
  const desk = await theDesk(answers);
  desk.startPairingAgain(device);
  await desk.pair({ gateId: 'g', name: device.name, challenge: '' });
  await desk.load();
  expect(desk.pairing).toBeDefined();
  const again = { ...device, paired_at: '2030-01-01T11:00:00Z' };
  answers['GET /api/scanning/devices'] = () => json(200, { data: [again], next: null });
  await desk.load();
  expect([desk.pairing, desk.arrived]).toEqual([undefined, device.name]);
});

test('a device that shows its own code is approved by it, however it is pasted', async () => {
  const sent: unknown[] = [];
  const desk = await theDesk(aServer(sent));
  const pasted = ` ${HASH.slice(0, 32).toUpperCase()}\n${HASH.slice(32)} `;
  await desk.pair({ gateId: 'g', name: 'iPad', challenge: pasted });
  expect(sent).toMatchObject([{ gate_id: 'g', name: 'iPad', challenge: HASH }]);
  expect(desk.approved).toBe('iPad');
  expect(desk.pairing).toBeUndefined();
});

test('names what is missing or cannot be before anybody is asked', () => {
  expect(pairingFaults({ gateId: 'g', name: 'iPad', challenge: '' })).toEqual({});
  expect(pairingFaults({ gateId: 'g', name: ' ', challenge: 'abc' })).toEqual({
    name: true,
    challenge: true,
  });
});

test('a device gets another gate with the version that was seen', async () => {
  const answers = aServer();
  let sent: unknown;
  answers['PATCH /api/scanning/devices/d'] = async (request) => {
    sent = await request.json();
    return json(200, { data: device });
  };
  const desk = await theDesk(answers);
  expect(await desk.move(device, 'other')).toBe(true);
  expect(sent).toEqual({ version: 7, gate_id: 'other' });
});

test('what is refused is told, and how it stands is read again', async () => {
  const answers = aServer();
  answers['DELETE /api/scanning/devices/d'] = () => refusal(404, 'device_not_found', 'Gone.');
  const desk = await theDesk(answers);
  answers['GET /api/scanning/devices'] = () => json(200, { data: [], next: null });
  expect(await desk.revoke(device)).toBe(false);
  expect(desk.refusal?.code).toBe('device_not_found');
  expect(desk.devices).toEqual([]);
  expect(desk.isBusy).toBe(false);
});

test('a device can be told to change its key', async () => {
  const answers = aServer();
  let times = 0;
  answers['POST /api/scanning/devices/d/key-rotations'] = () => {
    times += 1;
    return json(202, { data: device });
  };
  const desk = await theDesk(answers);
  expect(await desk.demandRotation(device)).toBe(true);
  expect(times).toBe(1);
});
