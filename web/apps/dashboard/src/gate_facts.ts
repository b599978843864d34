import type { Gate } from '@voelgoed/api';
import type { Messages } from './messages/index.ts';

/** What a gate is for, in one line: `north-main · 2 zones · 1 200 places`. */
export function gateFacts(words: Messages, gate: Gate): string {
  const room = gate.capacity === null ? undefined : words.events.places(gate.capacity);
  const zones = gate.allowed_zones;
  const told = zones === null ? words.gates.allZones : words.gates.zones(zones.length);
  return [gate.code, told, room].filter(Boolean).join(' · ');
}
