import type { Gate } from '@voelgoed/api';
import { places } from './places.ts';

/** What a gate is for, in one line: `north-main · 2 zones · 1 200 places`. */
export function gateFacts(gate: Gate): string {
  const room = gate.capacity === null ? undefined : places(gate.capacity);
  return [gate.code, zones(gate.allowed_zones), room].filter(Boolean).join(' · ');
}

function zones(allowed: string[] | null): string {
  if (allowed === null) return 'all zones';
  return allowed.length === 1 ? '1 zone' : `${allowed.length} zones`;
}
