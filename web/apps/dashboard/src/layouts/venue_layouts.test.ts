import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { aLayout } from './testing.ts';
import { lineagesOf, VenueLayouts } from './venue_layouts.svelte.ts';

function aServer(): Answers {
  return {
    'GET /api/venues/venue': () => json(200, { data: { id: 'venue', name: 'Barn' } }),
    'GET /api/venues/venue/layouts': () => json(200, { data: [aLayout()], next: null }),
  };
}

test('versions are together, the newest first, under its name', () => {
  const lineages = lineagesOf([
    aLayout(),
    aLayout({ id: 'other', lineage_id: 'other', name: 'Balcony' }),
    aLayout({ id: 'two', version: 2, name: 'Hall with aisle' }),
  ]);
  expect(lineages.map(({ name, versions }) => [name, versions.map(({ id }) => id)])).toEqual([
    ['Balcony', ['other']],
    ['Hall with aisle', ['two', 'one']],
  ]);
});

test('a layout is moved, and all are read again, for others are moved by it', async () => {
  const answers = aServer();
  const layouts = new VenueLayouts(anApi(answers), 'venue');
  await layouts.load();
  answers['POST /api/layouts/one/transitions'] = async (request) => {
    expect(await request.json()).toEqual({ to: 'archived' });
    const data = [aLayout({ status: 'archived' })];
    answers['GET /api/venues/venue/layouts'] = () => json(200, { data, next: null });
    return json(200, { data: data[0] });
  };
  expect(await layouts.move(aLayout(), 'archived')).toBe(true);
  expect(layouts.lineages[0]!.versions[0]!.status).toBe('archived');
});

test('a refusal is told and stays until the next change', async () => {
  const answers = aServer();
  answers['DELETE /api/layouts/one'] = () => refusal(409, 'layout_not_draft');
  const layouts = new VenueLayouts(anApi(answers), 'venue');
  expect(await layouts.remove(aLayout())).toBe(false);
  expect(layouts.refusal?.code).toBe('layout_not_draft');
  expect([layouts.status, layouts.isBusy]).toEqual(['ready', false]);
  answers['DELETE /api/layouts/one'] = () => new Response(null, { status: 204 });
  expect(await layouts.remove(aLayout())).toBe(true);
  expect(layouts.refusal).toBeUndefined();
});

test('a venue that cannot be read is told', async () => {
  const layouts = new VenueLayouts(anApi({}), 'venue');
  await layouts.load();
  expect([layouts.status, layouts.problem?.code]).toEqual(['failed', 'network']);
});
