/** The effect of an admission on a ticket's attendance. */

import type { History } from './model.ts';
import type { Moment } from './moments.ts';

/** What is known of the coming and going with a ticket. */
export interface Attendance {
  last_scanned_at: Moment | null;
  last_exit_at: Moment | null;
  last_entry_day: string | null;
  day_entries: number;
  is_inside: boolean;
  scan_count: number;
  /** The scans by which people came in who had no right to and are inside, the longest first. */
  irregular: readonly string[];
}

export const NOBODY_CAME: History = {
  entries: 0,
  entries_by_day: {},
  last_scanned_at: null,
  inside_day: null,
  left_at: null,
};

/** Of a ticket that nobody came with. */
export const BLANK: Attendance = {
  last_scanned_at: null,
  last_exit_at: null,
  last_entry_day: null,
  day_entries: 0,
  is_inside: false,
  scan_count: 0,
  irregular: [],
};

export function comeIn(before: Attendance, at: Moment, day: string): Attendance {
  return {
    last_scanned_at: at,
    last_exit_at: before.last_exit_at,
    last_entry_day: day,
    day_entries: before.last_entry_day === day ? before.day_entries + 1 : 1,
    is_inside: true,
    scan_count: before.scan_count + 1,
    irregular: before.irregular,
  };
}

/** Somebody was let in who had no right to: they are inside, and count as nothing else. */
export function comeInIrregularly(before: Attendance, scanId: string): Attendance {
  return { ...before, irregular: [...before.irregular, scanId] };
}

/** The person who came in rightly leaves first; after them, who came in irregularly first. */
export function leave(before: Attendance, at: Moment): Attendance {
  if (before.is_inside) return { ...before, is_inside: false, last_exit_at: at };
  return { ...before, irregular: before.irregular.slice(1) };
}

export function historyOf(attendance: Attendance): History {
  const day = attendance.last_entry_day;
  const irregular = attendance.irregular.length;
  if (day === null) return { ...NOBODY_CAME, irregular };
  return {
    entries: attendance.scan_count,
    entries_by_day: { [day]: attendance.day_entries },
    last_scanned_at: attendance.last_scanned_at,
    inside_day: attendance.is_inside ? day : null,
    irregular,
    left_at: attendance.is_inside ? null : attendance.last_exit_at,
  };
}
