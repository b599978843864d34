import {
  answer,
  ApiError,
  coalesced,
  type Api,
  type FleetDevice,
  type Gate,
  type ManifestStatus,
  type Pairing,
} from '@voelgoed/api';
import { readDevices } from '../live/readings.ts';

/** SHA-256 in hex, which a device shows of the token that it made. */
const CHALLENGE = /^[0-9a-f]{64}$/;

/** Until it pairs and says itself what it is. */
const SUPPOSED_TYPE = 'phone' as const;

export interface PairingForm {
  gateId: string;
  name: string;
  challenge: string;
}

export type PairingFaults = Partial<Record<'name' | 'challenge', true>>;

/** As people paste it: blanks and capital letters mean nothing. */
export function tidiedChallenge(text: string): string {
  return text.replace(/\s/g, '').toLowerCase();
}

export function pairingFaults({ name, challenge }: PairingForm): PairingFaults {
  const tidied = tidiedChallenge(challenge);
  return {
    ...(name.trim() === '' && { name: true }),
    ...(tidied !== '' && !CHALLENGE.test(tidied) && { challenge: true }),
  };
}

/** Devices at the gates of one event: how they become ours, where they are, and how they cease to be. */
export class DeviceDesk {
  status = $state<'loading' | 'ready' | 'failed'>('loading');
  devices = $state.raw<FleetDevice[]>([]);
  gates = $state.raw<Gate[]>([]);
  manifest = $state.raw<ManifestStatus | undefined>();
  withRevoked = $state(false);
  problem = $state.raw<ApiError | undefined>();
  /** Why the last change was refused; stays until the next one. */
  refusal = $state.raw<ApiError | undefined>();
  isBusy = $state(false);
  /** The token that is shown until somebody is done with it. */
  pairing = $state.raw<Pairing | undefined>();
  /** The device that was approved last by the code that it showed. */
  approved = $state<string | undefined>();
  /** The device that is to be paired again; undefined where a new one is to be paired. */
  replaced = $state.raw<FleetDevice | undefined>();
  /** The device that came with the token that was shown. */
  arrived = $state<string | undefined>();
  readonly load: () => Promise<void>;

  readonly #api: Api;
  readonly #eventId: string;
  /** When each that was there before the token was made had been paired. */
  #before = new Map<string, string>();

  constructor(api: Api, eventId: string) {
    this.#api = api;
    this.#eventId = eventId;
    this.load = coalesced(() => this.#load());
  }

  async showRevoked(withRevoked: boolean): Promise<void> {
    this.withRevoked = withRevoked;
    await this.load();
  }

  /** Whether it was made: a token for a device, or the approval of one that shows its own code. */
  pair({ gateId, name, challenge }: PairingForm): Promise<boolean> {
    this.#forgetPairing();
    this.#before = new Map(this.devices.map(({ id, paired_at }) => [id, paired_at]));
    const tidied = tidiedChallenge(challenge);
    const body = {
      gate_id: gateId,
      name: name.trim(),
      device_type: this.replaced?.device_type ?? SUPPOSED_TYPE,
      ...(tidied && { challenge: tidied }),
      ...(this.replaced && { replaces_device_id: this.replaced.id }),
    };
    return this.#change(async () => {
      const { data } = await answer(this.#api.POST('/api/scanning/pairings', { body }));
      if (data.pairing_token === null) this.approved = data.name;
      else this.pairing = data;
      this.replaced = undefined;
    });
  }

  /** Nobody but whoever chooses this lets a pairing take over a device that exists. */
  startPairingAgain(device: FleetDevice): void {
    this.#forgetPairing();
    this.replaced = device;
  }

  cancelPairingAgain(): void {
    this.replaced = undefined;
  }

  finishPairing(): void {
    this.pairing = undefined;
  }

  move({ id, version }: FleetDevice, gateId: string): Promise<boolean> {
    const params = { path: { device_id: id } };
    const body = { version, gate_id: gateId };
    const path = '/api/scanning/devices/{device_id}';
    return this.#change(() => answer(this.#api.PATCH(path, { params, body })));
  }

  demandRotation({ id }: FleetDevice): Promise<boolean> {
    const params = { path: { device_id: id } };
    const path = '/api/scanning/devices/{device_id}/key-rotations';
    return this.#change(() => answer(this.#api.POST(path, { params })));
  }

  revoke({ id }: FleetDevice): Promise<boolean> {
    const params = { path: { device_id: id } };
    const path = '/api/scanning/devices/{device_id}';
    return this.#change(() => answer(this.#api.DELETE(path, { params })));
  }

  #forgetPairing(): void {
    this.pairing = undefined;
    this.approved = undefined;
    this.arrived = undefined;
  }

  /** The token is used up when the device that it names was paired since, or one is there which was not. */
  #welcome(): void {
    if (!this.pairing) return;
    const { name, replaces_device_id } = this.pairing;
    const isThere = this.devices.some(({ id, name: called, paired_at, is_revoked }) =>
      replaces_device_id === null
        ? called === name && !this.#before.has(id)
        : id === replaces_device_id && !is_revoked && paired_at !== this.#before.get(id),
    );
    if (!isThere) return;
    this.arrived = name;
    this.pairing = undefined;
  }

  async #change(change: () => Promise<unknown>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.refusal = undefined;
    try {
      await change();
      return true;
    } catch (thrown) {
      this.refusal = ApiError.from(thrown);
      return false;
    } finally {
      // Also after a refusal: what somebody else did is why, more often than not.
      await this.load();
      this.isBusy = false;
    }
  }

  async #load(): Promise<void> {
    const params = { path: { event_id: this.#eventId } };
    try {
      const [gates, manifest, devices] = await Promise.all([
        answer(this.#api.GET('/api/events/{event_id}/gates', { params })),
        answer(this.#api.GET('/api/scanning/events/{event_id}/manifest-status', { params })),
        readDevices(this.#api, this.#eventId, this.withRevoked),
      ]);
      this.gates = gates.data;
      this.manifest = manifest.data;
      this.devices = devices;
      this.#welcome();
      this.problem = undefined;
      this.status = 'ready';
    } catch (thrown) {
      this.problem = ApiError.from(thrown);
      if (this.status === 'loading') this.status = 'failed';
    }
  }
}
