import { answer, ApiError, type Api, type EventZone } from '@voelgoed/api';

/** The zones of an event as it has them; none while it has no layout. */
export async function readZones(api: Api, eventId: string): Promise<EventZone[]> {
  const params = { path: { event_id: eventId } };
  try {
    return (await answer(api.GET('/api/events/{event_id}/layout', { params }))).data.zones;
  } catch (thrown) {
    if (ApiError.from(thrown).code === 'event_layout_not_found') return [];
    throw thrown;
  }
}
