/** The data of a device. Names of what is sent or stored are snake_case. */
import type { Direction, Moment, Outcome, Reason, Shown } from '@voelgoed/rules';

export type SyncStatus = 'pending' | 'synced' | 'failed' | 'discarded';

export interface Identity {
  /** Null where the device was revoked: it is wiped, and the scans that wait are kept. */
  api_key: string | null;
  device_id: string;
  name: string;
  organization_id: string;
  organization_name: string;
  /** The station of the device, as the server last reported it; a supervisor may move a device. */
  event_id: string | null;
  gate_id: string | null;
}

/**
 * What the server last thought of this device's key. `inactive`: for a while, the key is kept;
 * `key_rotated`: somebody else has its next key; `unknown_key`: never heard of it.
 */
export type Standing = 'active' | 'inactive' | 'key_rotated' | 'unknown_key' | 'revoked';

/** The station of the device and what is known of it, as the server last reported it. */
export interface Station {
  gate_id: string | null;
  gate_name: string | null;
  gate_status: string | null;
  event_id: string | null;
  event_name: string | null;
  event_status: string | null;
  /** Who came in today and has not left, as it was then. */
  gate_inside: number | null;
  event_inside: number | null;
  manifest_version: number | null;
  offset_seconds: number | null;
}

export interface ClockState {
  /** Whole milliseconds, to be added to the device's clock. */
  offset_ms: number;
  /** Heard from the server at some time. */
  is_known: boolean;
  /** Heard, and the clock had not jumped since. */
  is_sure: boolean;
  /** Milliseconds since 1970 by the device's clock. */
  last_read: number | null;
}

/** A scan as it is on disk. What was scanned is never written otherwise; how it fares, is. */
export interface LoggedScan {
  scan_id: string;
  ticket_id: string | null;
  /** What was read or typed. */
  barcode: string;
  barcode_hash: string;
  /** By the device's clock. */
  scanned_at: string;
  /** In the server's time. */
  scanned_at_corrected: string;
  /** Whether the offset of the clock was known when it was made. */
  is_measured: boolean;
  /** Its id, not its code: the server has to know it wherever the device is by then. */
  gate_id: string;
  direction: Direction;
  outcome: Outcome;
  reason: Reason | null;
  /** To be sent along, where the ticket is in no manifest. */
  ticket_code: string | null;
  signature: string;
  /** `failed`: the server will not have it, and says why; `discarded`: somebody here gave it up, and says why. */
  sync_status: SyncStatus;
  /** How often it was sent in vain, for whatever reason. */
  retry_count: number;
  /** How often the server would not have this very scan, with the signature that it has. */
  refusal_count: number;
  /** Why it is not with the server; of a discarded one the reason that was given. */
  last_error: string | null;
  /** When the server had it, by the server's clock. */
  synced_at: string | null;
  /** The order in which scans were made on this device. */
  place: number;
}

/** What somebody can import of a scan, whatever else of it this version of the app cannot read. */
export type Exportable = Pick<
  LoggedScan,
  | 'scan_id'
  | 'ticket_id'
  | 'barcode_hash'
  | 'scanned_at'
  | 'scanned_at_corrected'
  | 'gate_id'
  | 'direction'
  | 'outcome'
  | 'ticket_code'
  | 'signature'
  | 'place'
>;

/** Of what the server does not have. */
export interface ExportedFile {
  content: Blob;
  scans: number;
  /** False: this app cannot read them, and they are in the file as they are on the disk. */
  isImportable: boolean;
}

/** A batch on its way. Until it is answered it is sent again as it is, to the byte. */
export interface Outgoing {
  batch_id: string;
  body: string;
  scan_ids: string[];
  /** Of the clock that its scans were read from, which may have been set since. */
  offset_ms: number;
}

/** How a scan was decided: by the server or the device, or what this device lacked to decide. */
export type Why = 'online' | 'offline' | 'manifest_expired' | 'gate_unknown' | 'no_manifest';

/** `yellow`: let through by this device alone, to be delivered to the server. */
export type Light = 'green' | 'yellow' | 'red';

/** The answer that the person at the gate sees. */
export interface ScanAnswer {
  scan_id: string;
  /** In the server's time. */
  at: Moment;
  direction: Direction;
  outcome: Outcome;
  colour: Light;
  reason: Reason | null;
  why: Why;
  ticket_id: string | null;
  entry_number: number | null;
  /** When the person left, if the ticket is denied because of its earlier entries. */
  left_at: Moment | null;
  /** From when a person who left is let in again; null where the ticket has no entry left. */
  may_return_at: Moment | null;
  shown: Shown;
  /** The server has it; here there was no room for it, or no disk, and without a network it is not known. */
  is_unkept?: true;
}

export interface Unverified {
  scan_id: string;
  reason: string;
}

/** What became of a queue. */
export interface SyncReport {
  synced: number;
  /** Not wanted by the server; they are kept and can be exported. */
  failed: number;
  /** Still to be delivered, for `reason`. */
  left: number;
  requests: number;
  /** Scans of which the server has another opinion than this device. */
  conflicts: string[];
  /** Scans that the server keeps and somebody has to review before they count, and why. */
  unverified: Unverified[];
  /** The code of a fault, or `busy`: another tab is at it; `sending`: this one is, by itself. */
  reason: string | null;
}

/** The last sync that delivered something, or could not; also automatic ones. */
export interface LastReport extends SyncReport {
  /** In the server's time. */
  at: Moment;
}

/** `degraded`: something answers, too slowly or only that it cannot. */
export type Reach = 'online' | 'degraded' | 'offline';

export interface DeviceStatus {
  reach: Reach;
  pending: number;
  failed: number;
  discarded: number;
  lastSyncAt: Moment | null;
  /** Of this tab, since it was opened. */
  lastReport: LastReport | null;
  syncing: { done: number; total: number } | null;
  /** Null: never compared with the server's. */
  clockOffsetMs: number | null;
  isClockSure: boolean;
  /** As `Date.now()` counts: the time of the next attempt to deliver. */
  retryAt: number | null;
}

export interface ManifestInfo {
  version: number;
  event_name: string;
  tickets: number;
  generated_at: Moment;
  expires_at: Moment;
  age_ms: number;
  /** The server has another one, or nobody has heard for hours whether it has. */
  is_stale: boolean;
  /** From now on nobody can be let in by it. */
  is_expired: boolean;
}

/** What a device says of itself besides what it knows of its queue. */
export interface HeartbeatReport {
  battery_percent?: number | null;
}
