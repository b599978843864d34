import { answer, type Api } from './client.ts';
import { everyPage } from './pages.ts';
import type { Event } from './types.ts';

const PAGE_LIMIT = 200;

/** Every event in one of these states, by starting time. */
export async function readEvents(api: Api, statuses: Event['status'][]): Promise<Event[]> {
  const lists = await Promise.all(statuses.map((status) => readStatus(api, status)));
  return lists.flat().sort((one, other) => Date.parse(one.starts_at) - Date.parse(other.starts_at));
}

function readStatus(api: Api, status: Event['status']): Promise<Event[]> {
  return everyPage((after) => {
    const query = { status, limit: PAGE_LIMIT, ...(after && { after }) };
    return answer(api.GET('/api/events', { params: { query } }));
  });
}
