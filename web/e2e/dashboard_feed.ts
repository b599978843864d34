import type { Page } from '@playwright/test';

interface Given {
  gates: number;
  inside: number;
  /** Of each device that the event has; all of them are offline. */
  silentSeconds: number[];
  /** How many are inside by the first gates. */
  atGates?: number[];
}

const CAPACITY = 50_000;

const gateId = (at: number) => `01990000-0000-7000-8000-${String(at).padStart(12, '0')}`;

/** An event with as many gates and devices as a test wants, which no server has to make. */
export async function feed(page: Page, eventId: string, given: Given): Promise<void> {
  const scanning = `**/api/scanning/events/${eventId}`;
  const at = (path: string, data: unknown) =>
    page.route(path, (route) => route.fulfill({ json: { data, next: null } }));
  const gates = Array.from({ length: given.gates }, (_, place) => ({
    id: gateId(place),
    name: `Gate ${place + 1}`,
    capacity: 1_000,
  }));
  await at(`**/api/events/${eventId}/gates`, gates);
  await at(`${scanning}/scans?*`, []);
  await at(`${scanning}/manifest-status`, { manifest_version: 3, built_at: null });
  const open = { alerts: 2, critical_alerts: 1, conflicts: 1, recoveries: 0 };
  await at(`${scanning}/outlook`, { to_come: CAPACITY - given.inside, open });
  const day = '2030-01-01';
  const atGates = (given.atGates ?? []).map((inside, place) => ({
    gate_id: gateId(place),
    inside,
  }));
  const inside = { current: given.inside, capacity: CAPACITY, day };
  const occupancy = { ...inside, counts: [], gates: atGates, emptied_at: null };
  await at(`${scanning}/occupancy`, occupancy);
  const devices = given.silentSeconds.map((silent_seconds, place) => ({
    id: gateId(1_000 + place),
    name: `iPad ${place + 1}`,
    status: 'offline',
    gate_name: 'Gate 1',
    is_revoked: false,
    silent_seconds,
    battery_percent: 80,
    queue_length: 0,
    clock_offset_seconds: 0,
    manifest_version: 3,
  }));
  await at('**/api/scanning/devices?*', devices);
  await page.addInitScript(standIn);
  await page.reload();
}

export interface Topics {
  occupancy: string;
  gates: string[];
}

/** What a test says through the connection of the page. */
export interface Spoken {
  /** A scan, on both of its topics; the first one counts one person, the next two, and so on. */
  tellScan: (topics: Topics) => void;
  /** How many scans were told. */
  told: number;
}

/** A connection that a test speaks through, with the numbering of the real one. */
function standIn(): void {
  const numbers = new Map<string, number>();
  let open: StandIn | undefined;

  class StandIn {
    readyState = 1;
    onopen: (() => void) | null = null;
    onmessage: ((event: { data: string }) => void) | null = null;

    constructor() {
      open = this;
      setTimeout(() => this.onopen?.());
    }

    send(text: string): void {
      const { type, topic } = JSON.parse(text) as { type: string; topic: string };
      if (type !== 'subscribe') return;
      numbers.set(topic, 0);
      const data = JSON.stringify({ type: 'subscribed', topic, seq: 0 });
      setTimeout(() => this.onmessage?.({ data }));
    }

    close(): void {
      open = undefined;
    }
  }

  const say = (topic: string, data: unknown) => {
    const seq = (numbers.get(topic) ?? 0) + 1;
    numbers.set(topic, seq);
    open?.onmessage?.({ data: JSON.stringify({ type: 'message', topic, seq, data }) });
  };

  const tellScan: Spoken['tellScan'] = ({ occupancy, gates }) => {
    const count = spoken.told;
    spoken.told = count + 1;
    const gate_id = gates[count % gates.length] ?? '';
    const timestamp = new Date().toISOString();
    say(occupancy, {
      event: 'ticket_scanned',
      direction: 'entry',
      ticket_id: crypto.randomUUID(),
      gate_id,
      timestamp,
      gate_occupancy: Math.floor(count / gates.length) + 1,
      total_occupancy: count + 1,
    });
    const isDenied = count % 20 === 0;
    say(`gate:${gate_id}`, {
      event: isDenied ? 'ticket_denied' : 'ticket_admitted',
      scan_id: crypto.randomUUID(),
      reason: isDenied ? 'already_scanned' : null,
      timestamp,
    });
  };
  const spoken = Object.assign(window, { WebSocket: StandIn, tellScan, told: 0 });
}

/** Where scans are told; asked again meanwhile, the server has counted what was told. */
export async function scanTopics(page: Page, eventId: string, gates: number): Promise<Topics> {
  await page.route('**/occupancy', async (route) => {
    const current = await page.evaluate(() => (window as unknown as Spoken).told);
    const counted = { current, capacity: CAPACITY, day: '2030-01-01', counts: [] };
    await route.fulfill({ json: { data: counted } });
  });
  const answer = await page.request.get('/api/session');
  const { data } = (await answer.json()) as { data: { organization: { id: string } } };
  return {
    occupancy: `occupancy:${data.organization.id}:${eventId}`,
    gates: Array.from({ length: gates }, (_, place) => gateId(place)),
  };
}
