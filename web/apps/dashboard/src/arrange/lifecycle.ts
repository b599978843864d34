import type { Event } from '@voelgoed/api';

type Status = Event['status'];

/** Where an event can go from where it is; the server has the last word. */
const NEXT: Record<Status, readonly Status[]> = {
  draft: ['published', 'cancelled'],
  published: ['live', 'cancelled'],
  live: ['ended', 'cancelled'],
  ended: ['archived'],
  cancelled: [],
  archived: [],
};

/** What somebody can do about an event's state: move it, or delete a draft. */
export type Step = 'published' | 'live' | 'ended' | 'archived' | 'cancelled' | 'delete';

/** Steps after which people buy and come in: what for is looked at before. */
export const NEEDS_CHECK: readonly Step[] = ['published', 'live'];

export function stepsOf(status: Status): Step[] {
  const moves = NEXT[status].filter((to) => to !== 'draft') as Step[];
  return status === 'draft' ? [...moves, 'delete'] : moves;
}

/** What is over can be looked at, not changed. */
export function isChangeable(status: Status | undefined): boolean {
  return status === 'draft' || status === 'published' || status === 'live';
}
