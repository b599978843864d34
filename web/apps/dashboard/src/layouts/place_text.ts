import type { Messages } from '../messages/index.ts';
import type { Place } from './drawable.ts';

/** What a part of a layout is called: `seat A-4`. */
export function placeText({ layoutImport: words }: Messages, { kind, name }: Place): string {
  if (kind === 'seat') return name ? words.seat(name) : words.seatWithout;
  if (kind === 'zone') return name ? words.zone(name) : words.zoneWithout;
  return name ? words.group(name) : words.groupWithout;
}
