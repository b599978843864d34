import type { FleetDevice } from '@voelgoed/api';

let made = 0;

/** One that is well and was just heard. */
export function aDevice(facts: Partial<FleetDevice> = {}): FleetDevice {
  made += 1;
  return {
    id: `01990000-0000-7000-8000-${String(made).padStart(12, '0')}`,
    name: `iPad ${made}`,
    device_type: 'ipad',
    status: 'active',
    gate_id: 'north',
    gate_name: 'North',
    event_id: 'event',
    last_heartbeat: '2030-01-01T16:00:00Z',
    last_seen_at: '2030-01-01T16:00:00Z',
    silent_seconds: 5,
    battery_percent: 80,
    queue_length: 0,
    app_version: '1',
    manifest_version: 3,
    clock_offset_seconds: 0.2,
    last_sync_at: null,
    paired_at: '2030-01-01T10:00:00Z',
    key_rotated_at: '2030-01-01T10:00:00Z',
    rotation_demanded_at: null,
    is_revoked: false,
    version: 1,
    ...facts,
  };
}
