import type { LayoutDiff } from '@voelgoed/api';
import type { Messages } from '../messages/index.ts';
import type { SeatChange } from './changes.ts';

/** `Seat A-4: moved, category (standard became wheelchair)`. */
export function changeText({ comparison, map }: Messages, change: SeatChange): string {
  const { seatId, look, what, before, after } = change;
  const named = (value: string) => map.categories[value as keyof typeof map.categories] ?? value;
  const parts = what.map((each) => comparison.what[each]);
  if (look !== 'changed' || parts.length === 0) parts.unshift(comparison.looks[look]);
  const became = before || after ? ` (${comparison.became(named(before), named(after))})` : '';
  return `${seatId}: ${parts.join(', ')}${became}`;
}

/** What is different besides the seats. */
export function otherChanges(
  { comparison: words }: Messages,
  diff: LayoutDiff,
  zoneNames: ReadonlyMap<string, string>,
): string[] {
  const names = (ids: readonly string[]) => ids.map((id) => zoneNames.get(id) ?? id).join(', ');
  return [
    diff.zones_added.length > 0 ? words.zonesAdded(names(diff.zones_added)) : '',
    diff.zones_removed.length > 0 ? words.zonesRemoved(names(diff.zones_removed)) : '',
    diff.zones_changed.length > 0 ? words.zonesChanged(names(diff.zones_changed)) : '',
    diff.groups_changed ? words.groups : '',
    diff.focal_point_moved ? words.focus : '',
  ].filter(Boolean);
}
