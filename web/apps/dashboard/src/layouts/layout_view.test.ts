import { anApi, json, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { LayoutView } from './layout_view.svelte.ts';
import { aLayout, aRow } from './testing.ts';

const ANSWERS: Answers = {
  'GET /api/layouts/one': () => json(200, { data: aLayout() }),
  'GET /api/layouts/one/config': () => json(200, aRow([1, 2, 3])),
  'GET /api/venues/venue/layouts': () =>
    json(200, {
      data: [aLayout(), aLayout({ id: 'two', version: 2 }), aLayout({ id: 'x', lineage_id: 'x' })],
      next: null,
    }),
};

test('a layout is shown with every seat free, and with its other versions', async () => {
  const view = new LayoutView(anApi(ANSWERS), 'one');
  await view.load();
  expect(view.status).toBe('ready');
  expect(view.states?.counts[0]).toBe(3);
  expect(view.versions.map(({ id }) => id)).toEqual(['two', 'one']);
});

test('a layout that cannot be read is told, and reading again helps', async () => {
  const answers = { ...ANSWERS };
  delete answers['GET /api/layouts/one/config'];
  const view = new LayoutView(anApi(answers), 'one');
  await view.load();
  expect([view.status, view.problem?.code]).toEqual(['failed', 'network']);
  Object.assign(answers, ANSWERS);
  await view.load();
  expect([view.status, view.problem]).toEqual(['ready', undefined]);
});
