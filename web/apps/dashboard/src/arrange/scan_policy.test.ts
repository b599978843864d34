import { anApi, json } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { editedScanPolicy } from './scan_policy.svelte.ts';

const usual = {
  event_id: 'e',
  dedup_window_s: 300,
  travel_s: 300,
  duplicates_per_hour_max: 5,
  gate_scans_per_minute_max: 60,
  device_error_rate_max: 0.07,
  blocks_devices: false,
  version: 1,
};

test('the whole policy is sent, its rate as a share', async () => {
  let sent: unknown;
  const edited = editedScanPolicy(
    anApi({
      'GET /api/events/e/scan-policy': () => json(200, { data: usual }),
      'PUT /api/events/e/scan-policy': async (request) => {
        sent = await request.json();
        return json(200, { data: { ...usual, version: 2 } });
      },
    }),
    'e',
  );
  await edited.load();
  expect(edited.fields.device_error_rate_max).toBe('7');
  edited.fields.device_error_rate_max = '12,5';
  edited.fields.dedup_window_s = '600';
  await edited.save();
  const { event_id, ...kept } = usual;
  expect(sent).toEqual({ ...kept, dedup_window_s: 600, device_error_rate_max: 0.125 });

  edited.fields.device_error_rate_max = 'few';
  expect(await edited.form.submit(edited.save)).toBe(false);
  expect(edited.form.fault('device_error_rate_max')).toBe('is no number');
});
