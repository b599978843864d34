import type { Messages } from './messages/index.ts';
import type { Problem, SelectionCheck } from './types.ts';

/** What the server has against seats, or would rather not see, as people read it. */
export function objections(
  check: SelectionCheck | undefined,
  words: Messages,
  say: (problem: Problem) => string,
): string[] {
  if (!check) return [];
  // Of single seats we speak once, by their names.
  const others = [...check.problems, ...check.warnings].filter(
    ({ code }) => code !== 'would_orphan_seats',
  );
  const alone = check.orphans.length > 0 ? [words.choice.alone(check.orphans.join(', '))] : [];
  return [...new Set(others.map(say)), ...alone];
}

/** The seats that could be had instead, each party's as one. */
export function alternatives(check: SelectionCheck | undefined): string[][] {
  return (check?.alternatives ?? []).map(({ seats }) => seats.map(({ seat_id: id }) => id));
}
