/** Reads what is on disk, checked, because another version of the app may have written it. */
import { REASONS } from '@voelgoed/rules';
import type {
  ClockState,
  Exportable,
  Identity,
  LoggedScan,
  Outgoing,
  Standing,
  Station,
} from './model.ts';
import type { Reader } from './shapes.ts';
import {
  among,
  isBytes,
  isFlag,
  isMoment,
  isNumber,
  isText,
  listOf,
  orNothing,
  orNull,
  shaped,
} from './shapes.ts';

export interface KeptManifest {
  document: Uint8Array<ArrayBuffer>;
  code_key: Uint8Array<ArrayBuffer>;
  event_id: string;
  generated_at: string;
}

/** What is asked of a manifest before anybody reads it. */
export interface ManifestHead {
  event_id: string;
  generated_at: string;
  /** Under which it is kept. Earlier versions of the app kept the manifest itself in the place of this. */
  key?: string;
}

/** By name, in the store `state`. */
export interface State {
  identity: Identity;
  standing: Standing;
  station: Station;
  clock: ClockState;
  /** Of a key that was asked for and did not arrive yet. */
  rotation: string;
  outgoing: Outgoing;
  /** In the server's time. */
  last_sync: number;
  /** When the server last said that the manifest is the newest, in its time. */
  confirmed: number;
}

const STANDINGS = ['active', 'inactive', 'key_rotated', 'unknown_key', 'revoked'] as const;

export const readStation: Reader<Station> = shaped<Station>({
  gate_id: orNull(isText),
  gate_name: orNull(isText),
  gate_status: orNull(isText),
  event_id: orNull(isText),
  event_name: orNull(isText),
  event_status: orNull(isText),
  gate_inside: orNull(isNumber),
  event_inside: orNull(isNumber),
  manifest_version: orNull(isNumber),
  offset_seconds: orNull(isNumber),
});

export const STATE_READERS: { [Name in keyof State]: Reader<State[Name]> } = {
  identity: shaped<Identity>({
    api_key: orNull(isText),
    device_id: isText,
    name: isText,
    organization_id: isText,
    organization_name: isText,
    event_id: orNull(isText),
    gate_id: orNull(isText),
  }),
  standing: (value) => STANDINGS.find((each) => each === value) ?? null,
  station: readStation,
  clock: shaped<ClockState>({
    offset_ms: Number.isSafeInteger,
    is_known: isFlag,
    is_sure: isFlag,
    last_read: orNull(isNumber),
  }),
  rotation: (value) => (isText(value) ? value : null),
  outgoing: shaped<Outgoing>({
    batch_id: isText,
    body: isText,
    scan_ids: listOf(isText),
    offset_ms: isNumber,
  }),
  last_sync: (value) => (isNumber(value) ? (value as number) : null),
  confirmed: (value) => (isNumber(value) ? (value as number) : null),
};

export const readKeptManifest: Reader<KeptManifest> = shaped<KeptManifest>({
  document: isBytes,
  code_key: isBytes,
  event_id: isText,
  generated_at: isMoment,
});

export const readManifestHead: Reader<ManifestHead> = shaped<ManifestHead>({
  event_id: isText,
  generated_at: isMoment,
  key: orNothing(isText),
});

const EXPORTABLE = {
  scan_id: isText,
  ticket_id: orNull(isText),
  barcode_hash: isText,
  scanned_at: isMoment,
  scanned_at_corrected: isMoment,
  gate_id: isText,
  direction: among('entry', 'exit'),
  outcome: among('valid', 'duplicate', 'invalid', 'gate_access_denied', 'expired'),
  ticket_code: orNull(isText),
  signature: isText,
  place: isNumber,
};

export const readExportable: Reader<Exportable> = shaped<Exportable>(EXPORTABLE);

export const readScan: Reader<LoggedScan> = shaped<LoggedScan>({
  ...EXPORTABLE,
  barcode: isText,
  is_measured: isFlag,
  reason: orNull(among(...REASONS)),
  sync_status: among('pending', 'synced', 'failed', 'discarded'),
  retry_count: isNumber,
  refusal_count: isNumber,
  last_error: orNull(isText),
  synced_at: orNull(isMoment),
});
