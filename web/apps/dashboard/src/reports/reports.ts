import type { PageName } from '../addresses.ts';

/** The reports in the order of their links: what they are called, their page and their table. */
export const REPORTS = [
  { name: 'sales', page: 'sales', table: 'sales.csv' },
  { name: 'attendance', page: 'attendance', table: 'attendance.csv' },
  { name: 'noShows', page: 'noShows', table: 'no-shows.csv' },
  { name: 'funnel', page: 'funnel', table: 'funnel.csv' },
] as const satisfies { name: string; page: PageName; table: string }[];

export type ReportName = (typeof REPORTS)[number]['name'];

/** Where a report can be taken along as a table. */
export function tableLink(eventId: string, name: ReportName, query = ''): string {
  const { table } = REPORTS.find((each) => each.name === name)!;
  return `/api/events/${eventId}/reports/${table}${query && `?${query}`}`;
}
