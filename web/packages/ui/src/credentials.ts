import type { ApiError } from '@voelgoed/api';

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
export function credentialFaults(given: Credentials | Registration): CredentialFaults {
  const faults: CredentialFaults = {};
  if (!given.organization) faults.organization = 'Enter the organisation.';
  if (!/^\S+@\S+$/.test(given.email)) faults.email = 'Enter your email address.';
  if (!given.password) faults.password = 'Enter your password.';
  if ('name' in given) {
    if (!given.name.trim()) faults.name = 'Enter your name.';
    if (given.password.length < NEW_PASSWORD_CHARACTERS_MIN) {
      faults.password = `Use at least ${NEW_PASSWORD_CHARACTERS_MIN} characters.`;
    }
  }
  return faults;
}

/** The server speaks of faults to programs; people are shown where to look. */
export function refusedFields(error: ApiError): CredentialFaults {
  const labels = {
    organization: 'This is not the short name of an organisation.',
    name: 'This name cannot be used.',
    email: 'This is not an email address.',
    password: 'This password cannot be used.',
  };
  return Object.fromEntries(
    Object.entries(labels).filter(([field]) => error.faultyFields.includes(field)),
  );
}
