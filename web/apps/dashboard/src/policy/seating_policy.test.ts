import contract from '../../../../../contracts/openapi.json';
import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { editedPolicy, RULES } from './seating_policy.svelte.ts';

const { SeatingPolicy, SeatingPolicyChange } = contract.components.schemas;

/** As it is until somebody changes it. */
const usual = Object.fromEntries(
  Object.entries(SeatingPolicy.properties).map(([name, rule]) => [
    name,
    'default' in rule ? rule.default : null,
  ]),
);
const kept = { ...usual, mandatory: ['max_seats_per_booking'], version: 4 };

test('every rule of the server has its place on the page', () => {
  const { properties } = SeatingPolicyChange;
  const rules = Object.keys(properties).filter((name) => !['version', 'mandatory'].includes(name));
  expect(Object.keys(RULES).sort()).toEqual(rules.sort());
});

test('numbers are typed, may be none where that means no limit, and only changes are sent', async () => {
  let sent: unknown;
  const answers: Answers = {
    'GET /api/seating-policy': () => json(200, { data: kept }),
    'PATCH /api/seating-policy': async (request) => {
      sent = await request.json();
      return json(200, { data: kept });
    },
  };
  const edited = editedPolicy(anApi(answers));
  await edited.load();
  edited.fields.max_holds_per_ip = '20';
  edited.fields.allow_vip_zones = true;
  edited.fields.mandatory = [];
  await edited.save();
  expect(sent).toEqual({
    version: 4,
    allow_vip_zones: true,
    max_holds_per_ip: 20,
    mandatory: [],
  });
});

test('a number that is none is told where it stands', async () => {
  const edited = editedPolicy(
    anApi({ 'GET /api/seating-policy': () => json(200, { data: kept }) }),
  );
  await edited.load();
  edited.fields.max_seats_per_booking = 'ten';
  expect(await edited.form.submit(edited.save)).toBe(false);
  expect(edited.form.fault('max_seats_per_booking')).toBe('is no whole number');
});
