import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { timeZones, Venues } from './venues.svelte.ts';

const skuur = {
  id: 'v',
  name: 'Die Skuur',
  address: '',
  timezone: 'Africa/Johannesburg',
  version: 2,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

function theVenues(answers: Answers): Venues {
  const list: Answers = { 'GET /api/venues': () => json(200, { data: [skuur], next: null }) };
  return new Venues(anApi({ ...list, ...answers }), 'Africa/Johannesburg');
}

test('a new venue is where whoever adds it is, unless they say otherwise', async () => {
  let sent: unknown;
  const venues = theVenues({
    'POST /api/venues': async (request) => {
      sent = await request.json();
      return json(201, { data: skuur });
    },
  });
  venues.creation.fields.name = 'Die Skuur ';
  await venues.creation.create();
  expect(sent).toEqual({ name: 'Die Skuur', address: '', timezone: 'Africa/Johannesburg' });
  expect(venues.list.items).toHaveLength(1);
});

test('a change names the version that was seen and nothing that stayed', async () => {
  let sent: unknown;
  const venues = theVenues({
    'PATCH /api/venues/v': async (request) => {
      sent = await request.json();
      return json(200, { data: { ...skuur, address: 'Kerkstraat 1', version: 3 } });
    },
  });
  const edited = venues.edited(skuur);
  edited.fields.address = 'Kerkstraat 1';
  await edited.save();
  expect(sent).toEqual({ version: 2, address: 'Kerkstraat 1' });
});

test('a venue with events stays, and it is told why', async () => {
  const venues = theVenues({ 'DELETE /api/venues/v': () => refusal(409, 'venue_in_use') });
  expect(await venues.delete(skuur)).toBe(false);
  expect(venues.deleting.problem?.code).toBe('venue_in_use');
});

test('a time zone that the browser does not know can still be kept', () => {
  expect(timeZones('Africa/Johannesburg')).toContain('Europe/Berlin');
  expect(timeZones('Mars/Olympus')).toContain('Mars/Olympus');
});
