import type { DeviceStatus, LoggedScan, ScanAnswer } from '@voelgoed/device';

export function anAnswer(changes: Partial<ScanAnswer> = {}): ScanAnswer {
  return {
    scan_id: '01990000-0000-4000-8000-000000000001',
    at: Date.UTC(2026, 10, 16, 18, 0) * 1_000,
    direction: 'entry',
    outcome: 'valid',
    colour: 'green',
    reason: null,
    why: 'online',
    ticket_id: '01990000-0000-7000-8000-000000000002',
    entry_number: 1,
    left_at: null,
    may_return_at: null,
    shown: { seat: null, zone: null, notes: [], last_scanned_at: null, last_gate: null },
    ...changes,
  };
}

export function aScan(changes: Partial<LoggedScan> = {}): LoggedScan {
  return {
    scan_id: '01990000-0000-4000-8000-000000000001',
    ticket_id: null,
    barcode: 'ABCD-EFGH-JKMN',
    barcode_hash: 'sha256:00',
    scanned_at: '2026-11-16T18:00:00.000000Z',
    scanned_at_corrected: '2026-11-16T18:00:00.000000Z',
    is_measured: true,
    gate_id: '01990000-0000-7000-8000-000000000003',
    direction: 'entry',
    outcome: 'valid',
    reason: null,
    ticket_code: null,
    signature: '',
    sync_status: 'pending',
    retry_count: 0,
    refusal_count: 0,
    last_error: null,
    synced_at: null,
    place: 1,
    ...changes,
  };
}

export function aStatus(changes: Partial<DeviceStatus> = {}): DeviceStatus {
  return {
    reach: 'online',
    pending: 0,
    failed: 0,
    discarded: 0,
    lastSyncAt: null,
    lastReport: null,
    syncing: null,
    clockOffsetMs: 0,
    isClockSure: true,
    retryAt: null,
    ...changes,
  };
}
