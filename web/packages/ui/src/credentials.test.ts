import { ApiError } from '@voelgoed/api';
import { expect, test } from 'vitest';
import contract from '../../../../contracts/openapi.json';
import {
  credentialFaults,
  NEW_PASSWORD_CHARACTERS_MIN,
  refusedFields,
  tidied,
} from './credentials.ts';
import { SHELL_WORDS } from './messages/index.ts';

const { missing, refused } = SHELL_WORDS.en.logIn;

const complete = { organization: 'die-skuur', email: 'a@example.com', password: 'x' };
const registration = { ...complete, name: 'Thandi', password: 'long enough' };

test('blanks and capital letters around what was meant are forgiven', () => {
  const given = { organization: ' Die-Skuur ', email: ' a@example.com ', password: ' x ' };
  expect(tidied(given)).toEqual({ ...complete, password: ' x ' });
});

test('complete credentials have no fault', () => {
  expect(credentialFaults(complete, missing)).toEqual({});
  expect(credentialFaults(registration, missing)).toEqual({});
});

test('names every fault at once', () => {
  const faults = credentialFaults({ organization: '', email: 'a', password: '' }, missing);
  expect(Object.keys(faults)).toEqual(['organization', 'email', 'password']);
});

test('only a registration needs a name and a long password', () => {
  expect(credentialFaults({ ...registration, name: ' ', password: 'short' }, missing)).toEqual({
    name: 'Enter your name.',
    password: 'Use at least 10 characters.',
  });
});

test('asks for as long a password as the server does', () => {
  const { password } = contract.components.schemas.Registration.properties;
  expect(NEW_PASSWORD_CHARACTERS_MIN).toBe(password.minLength);
});

test('what the server finds fault with is marked where it was typed', () => {
  const faults = [
    { path: 'organization', message: 'Expected `str` matching regex' },
    { path: 'somewhere.else', message: 'Unexpected' },
  ];
  const error = new ApiError('invalid_request', 'Faults.', { faults }, 422);
  expect(Object.keys(refusedFields(error, refused))).toEqual(['organization']);
  expect(refusedFields(ApiError.network(), refused)).toEqual({});
});
