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

const english = () => new Speech(aMemory(), ['en'], WORDS);
const afrikaans = () => new Speech(aMemory(), ['af'], WORDS);

test.each([
  ['booking_refused', 'One booking has at most 10 seats.', 'hoogstens 10 sitplekke'],
  ['too_many_wheelchair_seats', 'One booking has at most 1 wheelchair place.', '1 rolstoelplek.'],
  [
    'rate_limited',
    'At most 10 seats can be held in 5 minutes; wait a little.',
    '10 sitplekke in 5',
  ],
  ['seat_not_available', 'Seat A-7 is held by somebody.', 'Sitplek A-7 word deur iemand gehou.'],
  [
    'would_orphan_seats',
    'Seats A-1, A-4 would be left alone, with no free seat beside them.',
    'A-1, A-4',
  ],
  ['zone_access_denied', 'This zone is for gold_circle members.', 'lede van gold circle.'],
  [
    'zone_access_denied',
    'This zone is for gold members; your membership ended on 3 May 2026.',
    'lede van gold; jou lidmaatskap het op 3 Mei 2026 geëindig.',
  ],
  [
    'zone_access_denied',
    'x@example.com: This zone is for gold members; your membership is suspended.',
    'x@example.com: Hierdie sone is vir lede van gold; dié lidmaatskap is opgeskort.',
  ],
])('Afrikaans keeps what the server says of %s: %s', (code, message, kept) => {
  expect(afrikaans().problem({ code, message })).toContain(kept);
  expect(english().problem({ code, message })).toBe(message);
});

test('a sentence that was worded anew is told by the reason in its details', () => {
  const worded = { code: 'zone_access_denied', message: 'Members only, and you were one.' };
  const details = { reason: 'membership_expired' };
  expect(afrikaans().problem({ ...worded, details })).toContain('is verby');
  expect(afrikaans().problem(worded)).toContain('nie vir almal');
});

test('of what is sold out it is said how many are left', () => {
  const message = 'There are not that many left; `details.ticket_types` says of which.';
  const details = { ticket_types: [{ name: 'Concession', left: 2 }] };
  const refused = { code: 'ticket_type_sold_out', message, details };
  expect(english().problem(refused)).toBe('There are not that many left: Concession 2.');
  expect(afrikaans().problem(refused)).toBe('Daar is nie soveel oor nie: Concession 2.');
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
