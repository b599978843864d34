import { anApi, json } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { AuditSearch, changeTexts } from './audit_search.svelte.ts';

test('asks for what was filled in, and for nothing else', async () => {
  let asked = new URLSearchParams();
  const search = new AuditSearch(
    anApi({
      'GET /api/audit': (request) => {
        asked = new URL(request.url).searchParams;
        return json(200, { data: [], next: null });
      },
    }),
  );
  search.wanted.action = ' gate_changed ';
  search.wanted.since = '2030-01-01T10:00';
  await search.found.anew();
  expect(Object.fromEntries(asked)).toEqual({
    action: 'gate_changed',
    since: '2030-01-01T10:00:00Z',
    limit: '50',
  });
});

test('what was found can be taken along, whatever was typed', () => {
  const search = new AuditSearch(anApi({}));
  expect(search.tableLink).toBe('/api/audit.csv');
  search.wanted.action = 'a&b=c';
  expect(search.tableLink).toBe('/api/audit.csv?action=a%26b%3Dc');
});

test('tells what changed from what to what', () => {
  expect(
    changeTexts({ status: { from: 'open', to: 'closed' }, name: 'North', zones: [1] }),
  ).toEqual(['status: open → closed', 'name: North', 'zones: [1]']);
});
