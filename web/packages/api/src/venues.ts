import { answer, type Api } from './client.ts';
import { everyPage } from './pages.ts';
import type { Venue } from './types.ts';

const PAGE_LIMIT = 200;

/** Every venue of the organisation, by its id. */
export async function readVenues(api: Api): Promise<Map<string, Venue>> {
  const venues = await everyPage((after) => {
    const query = { limit: PAGE_LIMIT, ...(after && { after }) };
    return answer(api.GET('/api/venues', { params: { query } }));
  });
  return new Map(venues.map((venue) => [venue.id, venue]));
}
