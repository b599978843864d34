import type { Memory } from './memory.ts';

const KEY = 'voelgoed.organization';

/** The organisation to offer on the log-in form: that of the link, else that of last time. */
export function offeredOrganization(search: string, memory: Memory): string {
  return new URLSearchParams(search).get('org') ?? memory.recall(KEY) ?? '';
}

export function keepOrganization(slug: string, memory: Memory): void {
  memory.keep(KEY, slug);
}
