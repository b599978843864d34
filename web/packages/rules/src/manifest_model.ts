/** The manifest as JSON has it: docs/offline.md describes it, and moments are still texts. */

import type { EventStatus, GateStatus, Reentry, TicketStatus } from './model.ts';

export interface GateInside {
  /** Its code, as everywhere in a manifest. */
  gate_id: string;
  inside: number;
}

export interface ManifestDay {
  date: string;
  starts_at: string;
  ends_at: string;
}

export interface ManifestEvent {
  status: EventStatus;
  ends_at: string;
  dedup_window_s: number;
  days: ManifestDay[];
}

export interface AccessRules {
  zones: string[] | null;
  /** The gate's capacity. Nobody is denied because of it. */
  max_concurrent: number | null;
  hard_capacity_limit: number | null;
  entry_rules: string[];
}

export interface ManifestGate {
  gate_id: string;
  id: string;
  name: string;
  status: GateStatus;
  access_rules: AccessRules;
}

export interface ManifestZone {
  /** As barcodes have it: its place in the layout, from 1. */
  number: number;
  zone: string;
  name: string;
}

export interface ManifestTicketType {
  number: number;
  name: string;
  entry_limit: number | null;
  max_daily_entries: number | null;
  reentry: Reentry;
  /** Codes. Null: every gate. */
  gate_ids: string[] | null;
}

export interface ManifestKey {
  number: number;
  /** In base64. */
  public_key: string;
}

export interface SeatNotes {
  seat: string;
  notes: string[];
}

/** A ticket. What is left out says nothing. */
export interface Entry {
  ticket_id: string;
  barcode_hash: string;
  zone: string | null;
  /** Codes. Null: every gate that lets its zone in. */
  gate_ids: string[] | null;
  entry_limit: number | null;
  is_valid: boolean;
  expires_at: string;
  code_hash: string;
  status: TicketStatus;
  issue: number;
  /** The number of its ticket type. */
  type: number;
  seat?: string;
  days?: string[];
  membership?: boolean;
  entries?: number;
  /** Of the last entry; `day_entries` are those of that day. */
  day?: string;
  day_entries?: number;
  last_scanned_at?: string;
  last_gate?: string;
  is_inside?: boolean;
  /** When somebody left with it after the last entry; left out while they are inside. */
  last_exit_at?: string;
}

export interface Manifest {
  event_id: string;
  event_name: string;
  manifest_version: number;
  generated_at: string;
  expires_at: string;
  occupancy: GateInside[];
  event: ManifestEvent;
  gates: ManifestGate[];
  zones: ManifestZone[];
  ticket_types: ManifestTicketType[];
  public_keys: ManifestKey[];
  seat_notes: SeatNotes[];
  tickets: Entry[];
}

/** What an answer ends with, made for one device and one moment; it is not signed. */
export interface Tail {
  /** The offset that is to be added to the device's clock; null where it did not send its time. */
  offset_seconds: number | null;
  code_key: string;
  signature: string;
}
