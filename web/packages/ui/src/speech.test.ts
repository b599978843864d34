import { expect, test } from 'vitest';
import { faults as afFaults } from './messages/af_faults.ts';
import { faults as enFaults } from './messages/en_faults.ts';
import { Speech } from './speech.svelte.ts';
import { aMemory } from './testing.ts';

const WORDS = { en: { hello: 'Hello' }, af: { hello: 'Hallo' } };

test('speaks what somebody reads, until they choose, and then what they chose', () => {
  const memory = aMemory();
  const speech = new Speech(memory, ['af-ZA', 'en'], WORDS);
  expect(speech.words.hello).toBe('Hallo');
  speech.choose('en');
  expect(new Speech(memory, ['af-ZA'], WORDS).words.hello).toBe('Hello');
});

test('the server’s English is kept, for it names what it speaks of', () => {
  const problem = { code: 'seat_withheld', message: 'Seat A-1 is kept back.' };
  expect(new Speech(aMemory(), ['en'], WORDS).problem(problem)).toBe(problem.message);
  expect(new Speech(aMemory(), ['af'], WORDS).problem(problem)).toContain('teruggehou');
});

test('a refusal without words of ours is told in the server’s', () => {
  const speech = new Speech(aMemory(), ['af'], WORDS);
  expect(speech.problem({ code: 'never_heard_of', message: 'Odd.' })).toBe('Odd.');
});

test('what a program is told about a field, a person is told in their words', () => {
  const [en, af] = ['en', 'af'].map((language) => new Speech(aMemory(), [language], WORDS));
  expect(en!.fault('Expected `int` <= 50')).toBe('Must be at most 50.');
  expect(af!.fault('Expected `int` <= 50')).toBe('Mag hoogstens 50 wees.');
  expect(en!.fault("Expected `str` matching regex '^[^@\\\\s\\\\x00]+@[^@]+$'")).toContain('email');
  expect(af!.fault('is not what it was')).toBe('is not what it was');
  expect(af!.fault(undefined)).toBeUndefined();
});

test('both languages know the same faults', () => {
  expect(afFaults.map(([pattern]) => pattern.source)).toEqual(
    enFaults.map(([pattern]) => pattern.source),
  );
});
