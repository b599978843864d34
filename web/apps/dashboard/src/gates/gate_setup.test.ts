import type { Gate } from '@voelgoed/api';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { GateSetup } from './gate_setup.svelte.ts';

const north: Gate = {
  id: 'g',
  event_id: 'e',
  code: 'north',
  name: 'North',
  allowed_zones: ['floor'],
  capacity: null,
  hard_capacity_limit: 500,
  status: 'open',
  version: 2,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

function theGates(answers: Answers): GateSetup {
  const list: Answers = { 'GET /api/events/e/gates': () => json(200, { data: [north] }) };
  return new GateSetup(anApi({ ...list, ...answers }), 'e');
}

test('a gate lets in from every zone and counts without a limit unless somebody says so', async () => {
  let sent: unknown;
  const gates = theGates({
    'POST /api/events/e/gates': async (request) => {
      sent = await request.json();
      return json(201, { data: north });
    },
  });
  Object.assign(gates.creation.fields, { name: 'North', code: 'north' });
  await gates.creation.create();
  expect(sent).toEqual({
    code: 'north',
    name: 'North',
    allowed_zones: null,
    capacity: null,
    hard_capacity_limit: null,
    status: 'closed',
  });
  expect(gates.list.items).toHaveLength(1);
});

test('a limit is taken away by leaving it empty, and the rest of the gate stays', async () => {
  let sent: unknown;
  const gates = theGates({
    'PATCH /api/events/e/gates/g': async (request) => {
      sent = await request.json();
      return json(200, { data: { ...north, version: 3 } });
    },
  });
  const edited = gates.edited(north);
  edited.fields.hard_capacity_limit = ' ';
  await edited.save();
  expect(sent).toEqual({ version: 2, hard_capacity_limit: null });
});

test('an event without a layout has no zones to choose', async () => {
  const gates = theGates({
    'GET /api/events/e/layout': () => refusal(404, 'event_layout_not_found'),
  });
  await gates.zones.load();
  expect([gates.zones.status, gates.zones.items]).toEqual(['ready', []]);
});

test('a gate of a live event stays, and it is told why', async () => {
  const gates = theGates({ 'DELETE /api/events/e/gates/g': () => refusal(409, 'gate_in_use') });
  expect(await gates.delete(north)).toBe(false);
  expect(gates.deleting.problem?.code).toBe('gate_in_use');
});
