import type { Event } from '@voelgoed/api';
import { Filled } from '../forms/filled.ts';
import { localOf } from '../forms/moments.ts';

/** Dates are on the clock of the venue, as a field holds them. */
export interface EventFields {
  name: string;
  description: string;
  starts_at: string;
  ends_at: string;
  sale_start: string;
  sale_end: string;
  capacity: string;
}

export const NO_EVENT: EventFields = {
  name: '',
  description: '',
  starts_at: '',
  ends_at: '',
  sale_start: '',
  sale_end: '',
  capacity: '',
};

export function fieldsOf(event: Event, timeZone: string): EventFields {
  const local = (at: string | null) => (at === null ? '' : localOf(at, timeZone));
  return {
    name: event.name,
    description: event.description,
    starts_at: local(event.starts_at),
    ends_at: local(event.ends_at),
    sale_start: local(event.sale_start),
    sale_end: local(event.sale_end),
    capacity: String(event.capacity),
  };
}

/** Throws all faults at once. */
export function bodyOf(fields: EventFields, timeZone: string, filled = new Filled()) {
  const body = {
    name: filled.text('name', fields.name),
    description: fields.description.trim(),
    starts_at: filled.moment('starts_at', fields.starts_at, timeZone),
    ends_at: filled.moment('ends_at', fields.ends_at, timeZone),
    sale_start: filled.momentOrNone('sale_start', fields.sale_start, timeZone),
    sale_end: filled.momentOrNone('sale_end', fields.sale_end, timeZone),
    capacity: filled.whole('capacity', fields.capacity),
  };
  filled.refuseFaults();
  return body;
}
