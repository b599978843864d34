import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LogIn {
  email: string;
  password: string;
}

export interface Demo {
  organization_slug: string;
  users: Record<'owner' | 'box_office' | 'gate_supervisor' | 'customer', LogIn>;
  event_id: string;
  bank_secret: string;
  gates: { id: string; code: string; name: string }[];
}

/** What the server wrote about its demo organisation when it started. */
export function demo(): Demo {
  const directory = process.env.VOELGOED_DATA ?? '';
  return JSON.parse(readFileSync(join(directory, 'demo.json'), 'utf8')) as Demo;
}
