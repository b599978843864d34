import { execFileSync } from 'node:child_process';
import type { Demo, LogIn } from './demo.ts';

type Organization = Pick<Demo, 'organization_slug'> & { users: { owner: LogIn } };

/** A tenant beside the demo, on the server that all tests share, made as an operator makes one. */
export function anOrganization(name: string): Organization {
  const organization_slug = `o-${crypto.randomUUID()}`;
  const owner = { email: 'owner@example.com', password: crypto.randomUUID() };
  const { E2E_PORT, E2E_DATA, ...env } = process.env;
  const input = `${owner.password}\n`;
  const given = ['organization', 'create', organization_slug, name, owner.email];
  execFileSync('../.venv/bin/voelgoed', given, {
    env,
    input,
    stdio: 'pipe',
  });
  return { organization_slug, users: { owner } };
}
