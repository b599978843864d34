import type { EventScan } from '@voelgoed/api';
import { anApi, json } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { passedKey, readRecentScans } from './readings.ts';

const NOW = Date.parse('2030-01-01T16:00:30Z');

let made = 0;
function aScan(facts: Partial<EventScan> = {}): EventScan {
  made += 1;
  const scan = { id: `s${made}`, ticket_id: `t${made}`, status: 'admitted', direction: 'entry' };
  const at = '2030-01-01T16:00:00.250000Z';
  const told = { outcome: null, reason_denied: null, scanned_at_canonical: at };
  return { ...scan, ...told, ...facts } as EventScan;
}

function anApiWith(pages: EventScan[][]) {
  return anApi({
    'GET /api/scanning/events/e/scans': (request) => {
      const page = Number(new URL(request.url).searchParams.get('after') ?? 0);
      return json(200, { data: pages[page], next: page + 1 < pages.length ? page + 1 : null });
    },
  });
}

test('reads the last hour, and no further back', async () => {
  const old = aScan({ scanned_at_canonical: '2030-01-01T14:00:00Z' });
  const { scans, isWhole } = await readRecentScans(
    anApiWith([[aScan()], [aScan(), old], [aScan()]]),
    'e',
    NOW,
  );
  expect(scans).toHaveLength(2);
  expect(isWhole).toBe(true);
});

test('of an hour with very many it reads a few pages, and says that it is not all', async () => {
  const pages = Array.from({ length: 12 }, () => [aScan()]);
  const { scans, isWhole } = await readRecentScans(anApiWith(pages), 'e', NOW);
  expect([scans.length, isWhole]).toEqual([10, false]);
});

test('who passed is known by ticket and moment, as messages tell it', async () => {
  const { scans } = await readRecentScans(anApiWith([[aScan({ ticket_id: 't' })]]), 'e', NOW);
  expect(scans[0]?.key).toBe(passedKey('t', Date.parse('2030-01-01T16:00:00.250Z')));
});

test('only who was turned away at the gate was turned away', async () => {
  const denied = { status: 'denied' } as const;
  const scans = [
    aScan({ ...denied, reason_denied: 'wrong_gate' }),
    aScan({ ...denied, reason_denied: 'already_scanned', outcome: 'duplicate' }),
    aScan({ ...denied, reason_denied: 'already_scanned', outcome: 'valid' }),
    aScan({ ...denied, reason_denied: 'unverified', outcome: 'valid' }),
  ];
  const read = await readRecentScans(anApiWith([scans]), 'e', NOW);
  expect(read.scans.map(({ reason }) => reason)).toEqual(['wrong_gate', 'already_scanned']);
});
