import { anApi, json } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { AuditSearch } from './audit_search.svelte.ts';

const CAPE_TOWN = 'Africa/Johannesburg';

test('asks for what was filled in, on the clock of who looks, and for nothing else', async () => {
  let asked = new URLSearchParams();
  const search = new AuditSearch(
    anApi({
      'GET /api/audit': (request) => {
        asked = new URL(request.url).searchParams;
        return json(200, { data: [], next: null });
      },
    }),
    CAPE_TOWN,
  );
  search.wanted.action = 'gate_changed';
  search.wanted.since = '2030-01-01T10:00';
  search.wanted.until = '2030-01-01';
  search.wanted.entityId = ' g ';
  await search.found.anew();
  expect(Object.fromEntries(asked)).toEqual({
    action: 'gate_changed',
    entity_id: 'g',
    since: '2030-01-01T08:00:00Z',
    limit: '50',
  });
});

test('what was found can be taken along, whatever was typed', () => {
  const search = new AuditSearch(anApi({}), CAPE_TOWN);
  expect(search.tableLink).toBe('/api/audit.csv');
  search.wanted.entityId = 'a&b=c';
  expect(search.tableLink).toBe('/api/audit.csv?entity_id=a%26b%3Dc');
});

test('begins with what the address asks for', () => {
  const query = new URLSearchParams({ action: 'order_paid', since: '2030-01-01T10:00' });
  const { wanted } = new AuditSearch(anApi({}), CAPE_TOWN, query);
  expect(wanted).toMatchObject({ action: 'order_paid', since: '2030-01-01T10:00', entityId: '' });
});
