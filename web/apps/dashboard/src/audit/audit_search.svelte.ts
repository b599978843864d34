import { answer, type Api, type AuditEntry } from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';

const PAGE_LIMIT = 50;

export interface Wanted {
  action: string;
  entityType: string;
  entityId: string;
  /** As a field for date and time has it, in UTC: `2026-11-26T14:30`. */
  since: string;
  until: string;
}

/** What was done, by whom, as far as it fits what somebody looks for; the newest first. */
export class AuditSearch {
  wanted = $state<Wanted>({ action: '', entityType: '', entityId: '', since: '', until: '' });
  readonly found: Listing<AuditEntry>;

  /** Where all of it can be taken along as a table. */
  get tableLink(): string {
    const query = new URLSearchParams(asked(this.wanted));
    return `/api/audit.csv${query.size > 0 ? `?${query}` : ''}`;
  }

  constructor(api: Api) {
    this.found = new Listing((after) => {
      const query = { ...asked(this.wanted), limit: PAGE_LIMIT, ...(after && { after }) };
      return answer(api.GET('/api/audit', { params: { query } }));
    });
  }
}

function asked({ action, entityType, entityId, since, until }: Wanted): Record<string, string> {
  return {
    ...(action.trim() && { action: action.trim() }),
    ...(entityType.trim() && { entity_type: entityType.trim() }),
    ...(entityId.trim() && { entity_id: entityId.trim() }),
    ...(since && { since: `${since}:00Z` }),
    ...(until && { until: `${until}:00Z` }),
  };
}

/** What changed, in one line for each: `status: open → closed`. */
export function changeTexts(changes: Record<string, unknown>): string[] {
  return Object.entries(changes).map(([name, value]) => `${name}: ${changeText(value)}`);
}

function changeText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if ('from' in value && 'to' in value) return `${plain(value.from)} → ${plain(value.to)}`;
  return JSON.stringify(value);
}

function plain(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
