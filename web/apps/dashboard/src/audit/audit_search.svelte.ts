import { answer, type Api, type AuditEntry } from '@voelgoed/api';
import { Listing } from '@voelgoed/ui';
import { instantOf } from '../forms/moments.ts';

const PAGE_LIMIT = 50;

export interface Wanted {
  action: string;
  entityType: string;
  entityId: string;
  /** As a field for date and time has it, on the clock of whoever looks: `2026-11-26T14:30`. */
  since: string;
  until: string;
}

const NOTHING: Wanted = { action: '', entityType: '', entityId: '', since: '', until: '' };

/** What was done, by whom, as far as it fits what somebody looks for; the newest first. */
export class AuditSearch {
  wanted = $state<Wanted>({ ...NOTHING });
  readonly found: Listing<AuditEntry>;
  readonly #timeZone: string;

  constructor(api: Api, timeZone: string, query = new URLSearchParams()) {
    this.#timeZone = timeZone;
    for (const name of Object.keys(NOTHING) as (keyof Wanted)[]) {
      this.wanted[name] = query.get(name) ?? '';
    }
    this.found = new Listing((after) => {
      const asked = { ...this.#asked(), limit: PAGE_LIMIT, ...(after && { after }) };
      return answer(api.GET('/api/audit', { params: { query: asked } }));
    });
  }

  /** Where all of it can be taken along as a table. */
  get tableLink(): string {
    const query = new URLSearchParams(this.#asked());
    return `/api/audit.csv${query.size > 0 ? `?${query}` : ''}`;
  }

  #asked(): Record<string, string> {
    const { action, entityType, entityId, since, until } = this.wanted;
    return {
      ...(action && { action }),
      ...(entityType && { entity_type: entityType }),
      ...(entityId.trim() && { entity_id: entityId.trim() }),
      ...this.#moment('since', since),
      ...this.#moment('until', until),
    };
  }

  /** What is no moment, such as half a date, is not looked for. */
  #moment(name: 'since' | 'until', local: string): Record<string, string> {
    const instant = instantOf(local, this.#timeZone);
    return instant.endsWith('Z') ? { [name]: instant } : {};
  }
}
