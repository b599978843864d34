import { answer, type Api, type ScanPolicy } from '@voelgoed/api';
import { Edited } from '../forms/edited.svelte.ts';
import { Filled } from '../forms/filled.ts';

/** Numbers as they are typed; the rate in percent. */
export interface ScanPolicyFields {
  dedup_window_s: string;
  travel_s: string;
  duplicates_per_hour_max: string;
  gate_scans_per_minute_max: string;
  device_error_rate_max: string;
  blocks_devices: boolean;
}

/** How an event is scanned. It is sent whole, for the server puts it in place of the present one. */
export function editedScanPolicy(api: Api, eventId: string): Edited<ScanPolicy, ScanPolicyFields> {
  const params = { path: { event_id: eventId } };
  const path = '/api/events/{event_id}/scan-policy';
  return new Edited<ScanPolicy, ScanPolicyFields>({
    read: async () => (await answer(api.GET(path, { params }))).data,
    fieldsOf,
    send: async (fields, _, { version = 1 }) => {
      const body = { version, ...bodyOf(fields) };
      return (await answer(api.PUT(path, { params, body }))).data;
    },
  });
}

function fieldsOf(policy: ScanPolicy): ScanPolicyFields {
  return {
    dedup_window_s: String(policy.dedup_window_s),
    travel_s: String(policy.travel_s),
    duplicates_per_hour_max: String(policy.duplicates_per_hour_max),
    gate_scans_per_minute_max: String(policy.gate_scans_per_minute_max),
    device_error_rate_max: String(Number(((policy.device_error_rate_max ?? 0) * 100).toFixed(4))),
    blocks_devices: policy.blocks_devices ?? false,
  };
}

function bodyOf(fields: ScanPolicyFields) {
  const filled = new Filled();
  const whole = (name: Exclude<keyof ScanPolicyFields, 'blocks_devices'>) =>
    filled.whole(name, fields[name]);
  const body = {
    dedup_window_s: whole('dedup_window_s'),
    travel_s: whole('travel_s'),
    duplicates_per_hour_max: whole('duplicates_per_hour_max'),
    gate_scans_per_minute_max: whole('gate_scans_per_minute_max'),
    device_error_rate_max: filled.percent('device_error_rate_max', fields.device_error_rate_max),
    blocks_devices: fields.blocks_devices,
  };
  filled.refuseFaults();
  return body;
}
