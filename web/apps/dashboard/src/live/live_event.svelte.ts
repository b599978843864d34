import {
  answer,
  ApiError,
  coalesced,
  type Api,
  type DeniedReason,
  type EventOutlook,
  type FleetDevice,
  type Gate,
  type LiveClient,
  type ManifestStatus,
  type ZoneCount,
} from '@voelgoed/api';
import type { ServerClock } from '../server_clock.ts';
import { uncertaintyOf, type Uncertainty } from './fleet.ts';
import { Levels, type Level } from './levels.ts';
import { ListAges, type ListAge } from './list_ages.ts';
import { Minutes, type Minute, type Passed } from './minutes.ts';
import { Pace } from './pace.ts';
import { forecast, pressures, type Forecast, type GatePressure } from './pressure.ts';
import { passedKey, readDevices, readRecentScans, readZones } from './readings.ts';

const PICTURE_PAUSE_MS = 250;
/** Zones, and what devices bring at once, are in no message: they are read again so often. */
const READING_PAUSE_MS = 5_000;
const FLEET_PAUSE_MS = 15_000;
/** Many alerts in a moment are one look at how many there are. */
const OUTLOOK_PAUSE_MS = 1_000;
/** A connection follows a hundred topics at most, and the event needs a few of them. */
export const GATES_FOLLOWED_MAX = 90;
export const DENIED_MINUTES = 10;

export interface Picture {
  total: Level;
  gates: Level[];
  zones: Level[];
  pressures: ReadonlyMap<string, GatePressure>;
  forecast: Forecast | undefined;
  series: Minute[];
  /** Who passed in the last sixty seconds. */
  lately: Passed;
  denied: [DeniedReason, number][];
  uncertainty: Uncertainty;
  /** Since the fleet was read. */
  passedSeconds: number;
}

/** Somebody declared the venue empty: when, and who. */
export interface Emptied {
  at: string;
  byId: string | null;
}

/** An event while its gates are open: plain counting, and a few pictures of it a second. */
export class LiveEvent {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  problem = $state.raw<ApiError | undefined>();
  picture = $state.raw<Picture | undefined>();
  devices = $state.raw<FleetDevice[]>([]);
  manifest = $state.raw<ManifestStatus | undefined>();
  outlook = $state.raw<EventOutlook | undefined>();
  emptied = $state.raw<Emptied | undefined>();

  readonly #api: Api;
  readonly #live: Pick<LiveClient, 'subscribe'>;
  readonly #clock: ServerClock;
  readonly #eventId: string;
  readonly #organizationId: string;
  readonly #levels = new Levels();
  readonly #minutes = new Minutes();
  readonly #lists = new ListAges();
  #gates: Gate[] = [];
  #zones: ZoneCount[] = [];
  #fleetReadMs = 0;
  readonly #leave: (() => void)[] = [];
  #isStopped = false;

  readonly #drawn = new Pace(() => this.#draw(), PICTURE_PAUSE_MS);
  readonly #all = coalesced(() => this.#readAll());
  readonly #allAgain = new Pace(() => void this.#all(), READING_PAUSE_MS);
  readonly #readLevels = coalesced(() => this.#tried(() => this.#levelsNow()));
  readonly #levelsAgain = new Pace(() => void this.#readLevels(), READING_PAUSE_MS);

  readonly #readOutlook = coalesced(() => this.#tried(() => this.#outlookNow()));
  readonly #outlookAgain = new Pace(() => void this.#readOutlook(), OUTLOOK_PAUSE_MS);

  constructor(
    api: Api,
    live: Pick<LiveClient, 'subscribe'>,
    clock: ServerClock,
    eventId: string,
    organizationId: string,
  ) {
    this.#api = api;
    this.#live = live;
    this.#clock = clock;
    this.#eventId = eventId;
    this.#organizationId = organizationId;
  }

  get hasUnheardGates(): boolean {
    return this.#gates.length > GATES_FOLLOWED_MAX;
  }

  /** For how long there has been a newer list than it has; null when nobody knows. */
  listBehind({ manifest_version }: FleetDevice): ListAge | null {
    return this.#lists.behind(manifest_version, this.#clock.now());
  }

  /** Returns the function that ends it. */
  start(): () => void {
    void this.load();
    const fleet = setInterval(() => {
      void this.#readFleet();
      this.#outlookAgain.ask();
    }, FLEET_PAUSE_MS);
    return () => {
      this.#isStopped = true;
      clearInterval(fleet);
      this.#drawn.stop();
      this.#allAgain.stop();
      this.#levelsAgain.stop();
      this.#outlookAgain.stop();
      for (const leave of this.#leave) leave();
    };
  }

  async load(): Promise<void> {
    this.status = 'loading';
    this.problem = undefined;
    try {
      const params = { path: { event_id: this.#eventId } };
      const [gates, zones] = await Promise.all([
        answer(this.#api.GET('/api/events/{event_id}/gates', { params })),
        readZones(this.#api, this.#eventId),
      ]);
      this.#gates = gates.data;
      this.#zones = zones;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      this.status = 'failed';
      return;
    }
    if (this.#isStopped) return;
    if (this.#leave.length === 0) this.#follow();
    await Promise.all([this.#readFleet(), this.#readOutlook(), this.#all()]);
    if (!this.problem) this.status = 'ready';
    else if (!this.picture) this.status = 'failed';
    this.#draw();
  }

  /** Somebody here changed the counts, and should see that without waiting for the message. */
  readAgain(): void {
    void this.#readLevels();
  }

  #follow(): void {
    const again = () => this.#allAgain.ask();
    const onRefused = (error: ApiError) => void (this.problem = error);
    const topic = `occupancy:${this.#organizationId}:${this.#eventId}`;
    const onMessage = (data: Record<string, unknown>) => this.#hearCount(data);
    this.#leave.push(this.#live.subscribe(topic, { onMessage, onResync: again, onRefused }));
    const work = () => this.#outlookAgain.ask();
    const alerts = { onMessage: work, onResync: work, onRefused };
    this.#leave.push(this.#live.subscribe(`alerts:${this.#eventId}`, alerts));
    for (const { id } of this.#gates.slice(0, GATES_FOLLOWED_MAX)) {
      const atGate = (data: Record<string, unknown>) => this.#hearGate(id, data);
      const listener = { onMessage: atGate, onResync: again, onRefused };
      this.#leave.push(this.#live.subscribe(`gate:${id}`, listener));
    }
  }

  #hearCount(data: Record<string, unknown>): void {
    if (data.event !== 'ticket_scanned') return this.#allAgain.ask();
    this.#levelsAgain.ask();
    const { total_occupancy, gate_id, gate_occupancy, ticket_id } = data;
    const atMs = Date.parse(String(data.timestamp));
    const direction = data.direction === 'exit' ? 'exit' : 'entry';
    const atGate = typeof gate_occupancy === 'number' ? gate_occupancy : null;
    this.#levels.hear(Number(total_occupancy), String(gate_id), atGate);
    const key = passedKey(typeof ticket_id === 'string' ? ticket_id : null, atMs);
    this.#minutes.hear({ key, atMs, gateId: String(gate_id), direction, reason: null });
    this.#drawn.ask();
  }

  #hearGate(gateId: string, data: Record<string, unknown>): void {
    if (data.event !== 'ticket_denied') return;
    this.#minutes.hear({
      key: String(data.scan_id),
      atMs: Date.parse(String(data.timestamp)),
      gateId,
      direction: 'entry',
      reason: data.reason as DeniedReason,
    });
    this.#drawn.ask();
  }

  async #readAll(): Promise<void> {
    this.#minutes.beginReading();
    await this.#tried(async () => {
      const now = this.#clock.now();
      const [recent] = await Promise.all([
        readRecentScans(this.#api, this.#eventId, now),
        this.#levelsNow(),
      ]);
      this.#minutes.finishReading(recent.scans, recent.isWhole);
      this.#drawn.ask();
    });
    this.#minutes.giveUpReading();
  }

  async #levelsNow(): Promise<void> {
    const params = { path: { event_id: this.#eventId } };
    const path = '/api/scanning/events/{event_id}/occupancy';
    const { data } = await answer(this.#api.GET(path, { params }));
    this.#levels.read(data);
    const { emptied_at: at, emptied_by_id: byId } = data;
    this.emptied = at ? { at, byId } : undefined;
    this.#drawn.ask();
  }

  async #outlookNow(): Promise<void> {
    const params = { path: { event_id: this.#eventId } };
    const path = '/api/scanning/events/{event_id}/outlook';
    this.outlook = (await answer(this.#api.GET(path, { params }))).data;
    this.#drawn.ask();
  }

  #readFleet(): Promise<void> {
    const params = { path: { event_id: this.#eventId } };
    return this.#tried(async () => {
      const [devices, manifest] = await Promise.all([
        readDevices(this.#api, this.#eventId),
        answer(this.#api.GET('/api/scanning/events/{event_id}/manifest-status', { params })),
      ]);
      this.devices = devices;
      this.manifest = manifest.data;
      this.#lists.hear(manifest.data.manifest_version, manifest.data.built_at);
      this.#fleetReadMs = this.#clock.now();
      this.#drawn.ask();
    });
  }

  async #tried(read: () => Promise<void>): Promise<void> {
    try {
      await read();
      this.problem = undefined;
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
    }
  }

  #draw(): void {
    if (this.#isStopped || this.status === 'failed') return;
    const now = this.#clock.now();
    const passedSeconds = this.#fleetReadMs ? Math.round((now - this.#fleetReadMs) / 1_000) : 0;
    const series = this.#minutes.series(now);
    const paces = this.#minutes.paces(
      this.#gates.map(({ id }) => id),
      now,
    );
    this.picture = {
      total: this.#levels.event(this.#eventId),
      gates: this.#levels.gates(this.#gates),
      zones: this.#levels.zones(this.#zones),
      pressures: pressures(paces, this.outlook?.to_come ?? 0),
      forecast: this.outlook && forecast(this.outlook.to_come, series, now),
      series,
      lately: this.#minutes.lately(now),
      denied: this.#minutes.denied(now, DENIED_MINUTES),
      uncertainty: uncertaintyOf(this.devices, passedSeconds),
      passedSeconds,
    };
  }
}
