import { answer, type Api } from './client.ts';
import { everyPage } from './pages.ts';
import type { Layout } from './seating_types.ts';

const PAGE_LIMIT = 200;

/** Every version of every layout of a venue. */
export function readLayouts(api: Api, venueId: string): Promise<Layout[]> {
  return everyPage((after) => {
    const query = { limit: PAGE_LIMIT, ...(after && { after }) };
    const params = { path: { venue_id: venueId }, query };
    return answer(api.GET('/api/venues/{venue_id}/layouts', { params }));
  });
}
