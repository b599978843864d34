import type { ApiError } from '@voelgoed/api';
import type { ShellWords } from './messages/index.ts';

/** The server's rule for new passwords, told before it is broken. */
export const NEW_PASSWORD_CHARACTERS_MIN = 10;

export interface Credentials {
  organization: string;
  email: string;
  password: string;
}

export interface Registration extends Credentials {
  name: string;
}

export type CredentialFaults = Partial<Record<keyof Registration, string>>;

/** As people type it: blanks around it and capital letters mean nothing. */
export function tidied<T extends Credentials>(given: T): T {
  return {
    ...given,
    organization: given.organization.trim().toLowerCase(),
    email: given.email.trim(),
  };
}

/** What is missing before it is worth asking the server. */
export function credentialFaults(
  given: Credentials | Registration,
  words: ShellWords['logIn']['missing'],
): CredentialFaults {
  const faults: CredentialFaults = {};
  if (!given.organization) faults.organization = words.organization;
  if (!/^\S+@\S+$/.test(given.email)) faults.email = words.email;
  if (!given.password) faults.password = words.password;
  if ('name' in given) {
    if (!given.name.trim()) faults.name = words.name;
    if (given.password.length < NEW_PASSWORD_CHARACTERS_MIN) {
      faults.password = words.newPassword(NEW_PASSWORD_CHARACTERS_MIN);
    }
  }
  return faults;
}

/** The server speaks of faults to programs; people are shown where to look. */
export function refusedFields(
  error: ApiError,
  words: ShellWords['logIn']['refused'],
): CredentialFaults {
  return Object.fromEntries(
    Object.entries(words).filter(([field]) => error.faultyFields.includes(field)),
  );
}
