import { answer, type Api } from '@voelgoed/api';
import { readZones } from './zones.ts';

/** What an event needs before anybody can buy a ticket and come in with it. */
export const NEEDS = ['layout', 'tickets', 'gates'] as const;
export type Need = (typeof NEEDS)[number];

/** Which of these it has. A ticket type that is not on sale sells nothing. */
export async function readReadiness(api: Api, eventId: string): Promise<Record<Need, boolean>> {
  const params = { path: { event_id: eventId } };
  const [zones, types, gates] = await Promise.all([
    readZones(api, eventId),
    answer(api.GET('/api/events/{event_id}/ticket-types', { params })),
    answer(api.GET('/api/events/{event_id}/gates', { params })),
  ]);
  return {
    layout: zones.length > 0,
    tickets: types.data.some(({ status, prices }) => status === 'on_sale' && prices.length > 0),
    gates: gates.data.length > 0,
  };
}
