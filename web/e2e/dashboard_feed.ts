import type { Page } from '@playwright/test';

interface Given {
  gates: number;
  inside: number;
  /** Of each device that the event has. */
  silentSeconds: number[];
  /** How many are inside by the first gates. */
  atGates?: number[];
}

interface Pressure {
  gates: number;
  perSecond: number;
  seconds: number;
}

export interface Figures {
  scans: number;
  pictures: number;
  seconds: number;
  scriptSeconds: number;
  taskSeconds: number;
}

const CAPACITY = 50_000;
/** What is said within it travels together. */
const TOGETHER_MS = 20;

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
  const counts = (given.atGates ?? []).map((inside, place) => ({
    day,
    scope: 'gate',
    scope_id: gateId(place),
    inside,
  }));
  const occupancy = { current: given.inside, capacity: CAPACITY, day, counts };
  await at(`${scanning}/occupancy`, occupancy);
  const devices = given.silentSeconds.map((silent_seconds, place) => ({
    id: gateId(1_000 + place),
    name: `iPad ${place + 1}`,
    status: 'active',
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

interface Spoken {
  say: (topic: string, data: unknown) => void;
  /** How many scans. */
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

  const say: Spoken['say'] = (topic, data) => {
    const seq = (numbers.get(topic) ?? 0) + 1;
    numbers.set(topic, seq);
    open?.onmessage?.({ data: JSON.stringify({ type: 'message', topic, seq, data }) });
  };
  Object.assign(window, { WebSocket: StandIn, say, told: 0 });
}

async function occupancyTopic(page: Page, eventId: string): Promise<string> {
  const answer = await page.request.get('/api/session');
  const { data } = (await answer.json()) as { data: { organization: { id: string } } };
  return `occupancy:${data.organization.id}:${eventId}`;
}

/** So many scans a second for a while, each told on both of its topics; what it cost the page. */
export async function feedLive(page: Page, eventId: string, pressure: Pressure): Promise<Figures> {
  const topic = await occupancyTopic(page, eventId);
  const metrics = await page.context().newCDPSession(page);
  await metrics.send('Performance.enable');
  // Asked again meanwhile, the server has counted what was told.
  await page.route('**/occupancy', async (route) => {
    const current = await page.evaluate(() => (window as unknown as Spoken).told);
    const counted = { current, capacity: CAPACITY, day: '2030-01-01', counts: [] };
    await route.fulfill({ json: { data: counted } });
  });
  const before = await costs();
  const { scans, pictures } = await page.evaluate(speak, {
    ...pressure,
    topic,
    ids: Array.from({ length: pressure.gates }, (_, place) => gateId(place)),
    togetherMs: TOGETHER_MS,
  });
  const after = await costs();
  return {
    scans,
    pictures,
    seconds: after.Timestamp - before.Timestamp,
    scriptSeconds: after.ScriptDuration - before.ScriptDuration,
    taskSeconds: after.TaskDuration - before.TaskDuration,
  };

  async function costs() {
    const { metrics: found } = await metrics.send('Performance.getMetrics');
    const value = (name: string) => found.find((each) => each.name === name)?.value ?? 0;
    return {
      Timestamp: value('Timestamp'),
      ScriptDuration: value('ScriptDuration'),
      TaskDuration: value('TaskDuration'),
    };
  }
}

interface Speech extends Pressure {
  topic: string;
  ids: string[];
  togetherMs: number;
}

async function speak(given: Speech): Promise<{ scans: number; pictures: number }> {
  const spoken = window as unknown as Spoken;
  const { say } = spoken;
  const { topic, ids, perSecond, seconds, togetherMs } = given;
  const wanted = perSecond * seconds;
  let [scans, pictures] = [0, 0];
  const meter = document.querySelector('[role="meter"]');
  const watcher = new MutationObserver(() => (pictures += 1));
  if (meter) watcher.observe(meter, { attributes: true, attributeFilter: ['aria-valuenow'] });
  const began = performance.now();
  while (scans < wanted) {
    const due = Math.min(wanted, ((performance.now() - began) / 1_000) * perSecond);
    for (; scans < due; scans += 1) tell(scans);
    await new Promise((resolve) => setTimeout(resolve, togetherMs));
  }
  watcher.disconnect();
  return { scans, pictures };

  function tell(count: number): void {
    const gate_id = ids[count % ids.length] ?? '';
    const timestamp = new Date().toISOString();
    const inside = Math.floor(count / ids.length) + 1;
    say(topic, {
      event: 'ticket_scanned',
      direction: 'entry',
      ticket_id: crypto.randomUUID(),
      gate_id,
      timestamp,
      gate_occupancy: inside,
      total_occupancy: count + 1,
    });
    spoken.told = count + 1;
    const isDenied = count % 20 === 0;
    say(`gate:${gate_id}`, {
      event: isDenied ? 'ticket_denied' : 'ticket_admitted',
      scan_id: crypto.randomUUID(),
      reason: isDenied ? 'already_scanned' : null,
      timestamp,
    });
  }
}
