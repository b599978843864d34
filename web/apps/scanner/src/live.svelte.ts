import { coalesced, LiveClient, type LiveState } from '@voelgoed/api';
import type { Identity } from '@voelgoed/device';

/** Who is inside, as far as anybody has said since this device listens. */
export interface Occupancy {
  total: number | null;
  percentFull: number | null;
  atGate: number | null;
}

const NOBODY_SAID: Occupancy = { total: null, percentFull: null, atGate: null };

/** The messages that the server sends by itself: counts, and changes of this device. */
export class Live {
  state = $state<LiveState>('idle');
  occupancy = $state.raw<Occupancy>(NOBODY_SAID);

  readonly #connect: (apiKey: string) => WebSocket;
  readonly #onHint: () => Promise<void>;
  #leave: () => void = () => undefined;
  #wake: () => void = () => undefined;
  #followed = '';

  /** `onHint`: the server has something to say to this device; ask it. */
  constructor(connect: (apiKey: string) => WebSocket, onHint: () => Promise<void>) {
    this.#connect = connect;
    this.#onHint = coalesced(onHint);
  }

  /** Follows what concerns this device, with the key that it has now; nothing without one. */
  follow(identity: Identity | null): void {
    const { api_key, device_id, organization_id, event_id, gate_id } = identity ?? {};
    const followed = [api_key, event_id, gate_id].join(' ');
    if (followed === this.#followed) return;
    this.stop();
    this.#followed = followed;
    if (!api_key) return;
    const client = new LiveClient(() => this.#connect(api_key));
    client.onState = (state) => {
      this.state = state;
      // What was said before the connection broke is nobody's count now.
      if (state !== 'connected') this.occupancy = NOBODY_SAID;
    };
    this.#wake = () => client.wake();
    const hint = () => void this.#onHint().catch(() => undefined);
    const leaves = [
      client.subscribe(`device:${device_id}`, { onMessage: hint, onResync: () => undefined }),
    ];
    if (event_id) {
      const onMessage = (data: Record<string, unknown>) => this.#count(data, gate_id ?? null);
      const topic = `occupancy:${organization_id}:${event_id}`;
      leaves.push(
        client.subscribe(topic, { onMessage, onResync: () => undefined }),
        client.subscribe(`event:${event_id}`, { onMessage: hint, onResync: () => undefined }),
      );
    }
    this.#leave = () => leaves.forEach((leave) => leave());
  }

  wake(): void {
    this.#wake();
  }

  stop(): void {
    this.#leave();
    this.#leave = this.#wake = () => undefined;
    this.#followed = '';
    this.state = 'idle';
    this.occupancy = NOBODY_SAID;
  }

  #count(data: Record<string, unknown>, gateId: string | null): void {
    const before = this.occupancy;
    const isHere = data.gate_id === gateId;
    this.occupancy = {
      total: numberOr(data.total_occupancy, before.total),
      percentFull: numberOr(data.percent_full, before.percentFull),
      atGate: isHere ? numberOr(data.gate_occupancy, before.atGate) : before.atGate,
    };
  }
}

function numberOr(value: unknown, otherwise: number | null): number | null {
  return typeof value === 'number' ? value : otherwise;
}
