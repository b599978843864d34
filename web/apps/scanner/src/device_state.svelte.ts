import type {
  Device,
  DeviceStatus,
  Identity,
  LoggedScan,
  ManifestInfo,
  Standing,
  Station,
} from '@voelgoed/device';
import { readBarcode, readCode, type ManifestGate, type Moment } from '@voelgoed/rules';

/** Ages and waiting times go on while nothing else happens. */
const TICK_MS = 1_000;
/** Under this a clock is right enough for everybody. */
export const CLOCK_WRONG_MS = 5_000;

export type Watched = Pick<
  Device,
  'identity' | 'standing' | 'station' | 'manifest' | 'register' | 'status' | 'now' | 'onChange'
>;

/** The device as pages see it. */
export class DeviceState {
  identity = $state.raw<Identity | null>(null);
  standing = $state<Standing>('active');
  station = $state.raw<Station | null>(null);
  manifest = $state.raw<ManifestInfo | null>(null);
  status = $state.raw<DeviceStatus>() as DeviceStatus;
  now = $state<Moment>(0);
  gateName = $state<string | null>(null);

  readonly #device: Watched;

  constructor(device: Watched) {
    this.#device = device;
    this.read();
  }

  get eventName(): string | null {
    return this.manifest?.event_name ?? this.station?.event_name ?? null;
  }

  get isPaired(): boolean {
    return this.identity !== null && this.identity.api_key !== null;
  }

  /** Of its event, as the manifest has them. */
  get gates(): readonly ManifestGate[] {
    void this.manifest;
    return this.#device.register?.manifest.gates ?? [];
  }

  /** By how much the clock is off, where anybody would notice. */
  get clockErrorMs(): number | null {
    const offset = this.status.clockOffsetMs;
    return offset !== null && Math.abs(offset) >= CLOCK_WRONG_MS ? offset : null;
  }

  get retrySeconds(): number | null {
    const { retryAt } = this.status;
    // Depends on `now` so that it counts down.
    void this.now;
    const left = retryAt === null ? 0 : Math.ceil((retryAt - Date.now()) / 1_000);
    return left > 0 ? left : null;
  }

  /** How far sending is. Without a network it has not begun, however often it is tried. */
  get sending(): DeviceStatus['syncing'] {
    return this.status.reach === 'offline' ? null : this.status.syncing;
  }

  /** A name for the ticket that distinguishes it from others: its seat, or else its code. */
  ticketText(scan: LoggedScan): string | null {
    const entry = scan.ticket_id ? this.#device.register?.byTicket.get(scan.ticket_id) : undefined;
    return entry?.seat ?? readBarcode(scan.barcode)?.code ?? readCode(scan.barcode);
  }

  follow(): () => void {
    const leave = this.#device.onChange(() => this.read());
    const timer = setInterval(() => this.read(), TICK_MS);
    return () => {
      leave();
      clearInterval(timer);
    };
  }

  read(): void {
    const device = this.#device;
    this.identity = device.identity;
    this.standing = device.standing;
    this.station = device.station;
    this.manifest = device.manifest;
    this.status = device.status;
    this.now = device.now();
    const gateId = this.identity?.gate_id;
    const known = gateId ? device.register?.gates.get(gateId) : undefined;
    this.gateName = known?.name ?? (gateId ? (this.station?.gate_name ?? null) : null);
  }
}
