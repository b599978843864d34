import { calendarDay } from '@voelgoed/ui';

const DAY_MS = 86_400_000;
/** From so many days in a row on the first and the last are enough. */
const RUN_MIN = 3;

/** `Tue 17 Nov 2026 – Thu 19 Nov 2026`, or each day where they do not follow each other. */
export function daysText(days: readonly string[], locale: string): string {
  const texts = runs([...days].sort()).flatMap((run) => {
    const named = run.map((day) => calendarDay(day, locale));
    return run.length < RUN_MIN ? named : [`${named[0]} – ${named.at(-1)}`];
  });
  return texts.join('; ');
}

function runs(days: readonly string[]): string[][] {
  const found: string[][] = [];
  for (const day of days) {
    const run = found.at(-1);
    const before = run?.at(-1);
    if (before && Date.parse(day) - Date.parse(before) === DAY_MS) run!.push(day);
    else found.push([day]);
  }
  return found;
}
