import {
  answer,
  ApiError,
  everyPage,
  type Api,
  type EventScan,
  type FleetDevice,
  type ZoneCount,
} from '@voelgoed/api';
import { MINUTE_MS, MINUTES_SHOWN, type SeenScan } from './minutes.ts';

const PAGE_LIMIT = 200;
/** A busy hour has more scans than anybody wants to download: what is missing is not drawn. */
const SCAN_PAGES_MAX = 10;

export interface RecentScans {
  scans: SeenScan[];
  isWhole: boolean;
}

/** The scans of the last hour, as far back as a few pages reach. */
export async function readRecentScans(
  api: Api,
  eventId: string,
  nowMs: number,
): Promise<RecentScans> {
  const scans: SeenScan[] = [];
  const sinceMs = nowMs - MINUTES_SHOWN * MINUTE_MS;
  let after: string | null | undefined;
  for (let page = 0; page < SCAN_PAGES_MAX; page += 1) {
    const query = { limit: PAGE_LIMIT, ...(after && { after }) };
    const params = { path: { event_id: eventId }, query };
    const { data, next } = await answer(
      api.GET('/api/scanning/events/{event_id}/scans', { params }),
    );
    scans.push(
      ...data
        .filter(isSeen)
        .map(seenScan)
        .filter(({ atMs }) => atMs >= sinceMs),
    );
    after = next;
    const oldest = data.at(-1)?.scanned_at_canonical;
    if (!after || (oldest && Date.parse(oldest) < sinceMs)) return { scans, isWhole: true };
  }
  return { scans, isWhole: false };
}

/** Whom a device alone let in was not turned away, and what waits for a decision is neither yet. */
function isSeen({ status, outcome, reason_denied }: EventScan): boolean {
  return status === 'admitted' || (outcome !== 'valid' && reason_denied !== 'unverified');
}

function seenScan(scan: EventScan): SeenScan {
  const atMs = Date.parse(scan.scanned_at_canonical);
  const isDenied = scan.status === 'denied';
  return {
    key: isDenied ? scan.id : passedKey(scan.ticket_id, atMs),
    atMs,
    gateId: scan.gate_id,
    direction: scan.direction,
    reason: isDenied ? (scan.reason_denied ?? 'ticket_not_found') : null,
  };
}

/** A message about somebody who passed names no scan; a ticket passes once in a moment. */
export function passedKey(ticketId: string | null, atMs: number): string {
  return `${ticketId} ${atMs}`;
}

export function readDevices(
  api: Api,
  eventId: string,
  withRevoked = false,
): Promise<FleetDevice[]> {
  return everyPage((after) => {
    const query = {
      event_id: eventId,
      with_revoked: withRevoked,
      limit: PAGE_LIMIT,
      ...(after && { after }),
    };
    return answer(api.GET('/api/scanning/devices', { params: { query } }));
  });
}

/** None, where the event has no layout yet. */
export async function readZones(api: Api, eventId: string): Promise<ZoneCount[]> {
  const params = { path: { event_id: eventId } };
  try {
    return (await answer(api.GET('/api/events/{event_id}/availability', { params }))).data.zones;
  } catch (thrown) {
    if (ApiError.from(thrown).status === 404) return [];
    throw thrown;
  }
}
