import type { Identity } from '@voelgoed/device';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test, vi } from 'vitest';
import { Supervisor } from './supervisor.svelte.ts';

const GIVEN = { organization: ' Die-Skuur ', email: ' a@example.com', password: 'x' };
const SOUTH = { id: 'south', name: 'South' };

function aSupervisor(answers: Answers) {
  const identity = { device_id: 'd', event_id: 'e' } as Identity;
  const device = { identity, beat: vi.fn(async () => undefined) };
  const all = { 'POST /api/sessions': () => json(201, { data: {} }), ...answers };
  return { device, supervisor: new Supervisor(device, anApi(all)) };
}

test('logs in as people type it', async () => {
  const sent = vi.fn();
  const { supervisor } = aSupervisor({
    'POST /api/sessions': async (request) => {
      sent(await request.json());
      return json(201, { data: {} });
    },
  });
  await supervisor.logIn(GIVEN);
  expect(sent).toHaveBeenCalledWith({
    organization: 'die-skuur',
    email: 'a@example.com',
    password: 'x',
  });
  expect(supervisor.isLoggedIn).toBe(true);
});

test('a refused log-in and a missing network are distinguished', async () => {
  const { supervisor } = aSupervisor({
    'POST /api/sessions': () => refusal(401, 'unauthorized'),
  });
  await supervisor.logIn(GIVEN);
  expect(supervisor.refusal).toBe('refused');
  const away = aSupervisor({ 'POST /api/sessions': () => Promise.reject(new TypeError()) });
  await away.supervisor.logIn(GIVEN);
  expect(away.supervisor.problem?.code).toBe('server_away');
});

test('moves the device, which then asks for its station', async () => {
  const sent = vi.fn();
  const { device, supervisor } = aSupervisor({
    'GET /api/scanning/devices/d': () => json(200, { data: { version: 7 } }),
    'PATCH /api/scanning/devices/d': async (request) => {
      sent(await request.json());
      return json(200, { data: {} });
    },
  });
  await supervisor.move(SOUTH);
  expect(sent).toHaveBeenCalledWith({ version: 7, gate_id: 'south' });
  expect(supervisor.movedTo).toBe('South');
  expect(device.beat).toHaveBeenCalledOnce();
});

test('a role that may not move devices is refused', async () => {
  const { device, supervisor } = aSupervisor({
    'GET /api/scanning/devices/d': () => refusal(403, 'forbidden'),
  });
  await supervisor.move(SOUTH);
  expect(supervisor.refusal).toBe('notAllowed');
  expect(supervisor.movedTo).toBeNull();
  expect(device.beat).not.toHaveBeenCalled();
});

test('finds tickets, and leaves nothing behind when it logs out', async () => {
  const { supervisor } = aSupervisor({
    'GET /api/scanning/events/e/tickets': (request) =>
      json(200, { data: [{ ticket_code: new URL(request.url).searchParams.get('search') }] }),
  });
  await supervisor.logIn(GIVEN);
  await supervisor.search(' nel ');
  expect(supervisor.found).toEqual([{ ticket_code: 'nel' }]);
  // The server is not reachable: whoever leaves is logged out here all the same.
  await supervisor.logOut();
  expect(supervisor).toMatchObject({ isLoggedIn: false, found: null });
});
