import type { Event, Gate } from '@voelgoed/api';

export interface StatusLook {
  tone: 'good' | 'warn' | 'bad' | 'info' | 'neutral';
  label: string;
}

const EVENT_LOOKS: Record<Event['status'], StatusLook> = {
  draft: { tone: 'neutral', label: 'Draft' },
  published: { tone: 'info', label: 'Published' },
  live: { tone: 'good', label: 'Live' },
  ended: { tone: 'neutral', label: 'Ended' },
  archived: { tone: 'neutral', label: 'Archived' },
  cancelled: { tone: 'bad', label: 'Cancelled' },
};

export function eventLook(status: Event['status']): StatusLook {
  return EVENT_LOOKS[status];
}

export function gateLook(status: Gate['status']): StatusLook {
  return status === 'open' ? { tone: 'good', label: 'Open' } : { tone: 'bad', label: 'Closed' };
}
