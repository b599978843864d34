import 'fake-indexeddb/auto';
import { REASONS } from '@voelgoed/rules';
import { expect, test } from 'vitest';
import { ready, scene } from '../../../packages/device/src/testing.ts';
import { codeOf } from '../../../packages/device/src/testing_manifest.ts';
import { timeText } from './format.ts';
import { LANGUAGES } from './messages/index.ts';
import { anAnswer, aScan } from './testing.ts';
import {
  loggedText,
  noteText,
  syncErrorText,
  unverifiedTexts,
  verdictWords,
} from './verdict_words.ts';

const { en, af } = LANGUAGES;
const MINUTE_US = 60_000_000;

const said = (changes: Parameters<typeof anAnswer>[0], isPractice = false, words = en) =>
  verdictWords(words, { kind: 'answer', answer: anAnswer(changes), isPractice });

test('an admission has the same word with and without a network, in both languages', () => {
  for (const words of [en, af]) {
    const [green, yellow, red] = (['green', 'yellow', 'red'] as const).map(
      (colour) => said({ colour }, false, words).word,
    );
    expect(yellow).toBe(green);
    expect(red).not.toBe(green);
  }
});

test('a first entry, a re-entry and an exit have words of their own', () => {
  expect(said({}).word).toBe('GO IN');
  expect(said({ entry_number: 3 })).toMatchObject({
    word: 'WELCOME BACK',
    details: ['Entry number 3'],
  });
  expect(said({ direction: 'exit', entry_number: null }).word).toBe('GO OUT');
});

test('an offline admission is GO IN, with "offline" small', () => {
  const offline = { colour: 'yellow', why: 'offline' } as const;
  const expected = { word: 'GO IN', headline: null, marks: ['offline'] };
  expect(said(offline)).toMatchObject(expected);
  expect(said({ ...offline, direction: 'exit' }).word).toBe('GO OUT');
});

test('the report of a sync says how many results the server changed', () => {
  expect(en.queue.conflicts(1)).toBe('Server changed 1 result');
  expect(af.queue.conflicts(2)).toBe('Bediener het 2 uitslae verander');
});

test('the report of a sync says how many scans wait for review, and why', () => {
  const waiting = ['from_future', 'foreign_gate', 'from_future'].map((reason, number) => ({
    scan_id: String(number),
    reason,
  }));
  expect(unverifiedTexts(en, waiting)).toEqual([
    '2 scans wait for review by the office, from the future: check the clock',
    '1 scan waits for review by the office, at a gate of another event',
  ]);
  expect(unverifiedTexts(af, waiting.slice(0, 1))).toEqual([
    '1 skandering wag dat die kantoor daaroor besluit, uit die toekoms: kyk na die horlosie',
  ]);
  expect(unverifiedTexts(en, [{ scan_id: '1', reason: 'something_new' }])).toEqual([
    '1 scan waits for review by the office',
  ]);
});

test('a duplicate says when and where it was scanned', () => {
  const { at } = anAnswer();
  const shown = {
    ...anAnswer().shown,
    last_scanned_at: at - 4 * MINUTE_US,
    last_gate: 'North Main',
  };
  const words = said({ colour: 'red', outcome: 'duplicate', reason: 'already_scanned', shown });
  expect(words.headline).toBe('Already scanned');
  expect(words.details[0]).toMatch(/^Last scanned \d\d:\d\d \(4 min ago\)$/);
  expect(words.details[1]).toBe('at North Main');
  expect(words.marks).toEqual([]);
});

test('after an exit within the duplicate window the verdict shows when they left and may return', () => {
  const { at, shown } = anAnswer();
  const denied = {
    colour: 'red',
    outcome: 'duplicate',
    reason: 'already_scanned',
    shown: { ...shown, last_scanned_at: at - 4 * MINUTE_US, last_gate: 'North Main' },
    left_at: at - MINUTE_US,
    may_return_at: at + MINUTE_US,
  } as const;
  const time = (moment: number) => timeText(en, moment, at);
  expect(said(denied)).toMatchObject({
    headline: 'Too early to return',
    details: [`Left ${time(at - MINUTE_US)}.`, `May return from ${time(at + MINUTE_US)}.`],
  });
  expect(said(denied, false, af).details).toEqual([
    `Uit om ${time(at - MINUTE_US)}.`,
    `Mag terugkom vanaf ${time(at + MINUTE_US)}.`,
  ]);
  const noEntryLeft = said({ ...denied, may_return_at: null });
  expect(noEntryLeft.headline).toBe('Already scanned');
  expect(noEntryLeft.details).toEqual([`Left ${time(at - MINUTE_US)}.`]);
  const withSeconds = said({ ...denied, may_return_at: at + MINUTE_US + 1 });
  expect(withSeconds.details[1]).toContain(`from ${time(at + 2 * MINUTE_US)}.`);
});

test('after an exit without an entry left the verdict shows when they left', () => {
  const { at } = anAnswer();
  const denied = { colour: 'red', outcome: 'invalid', reason: 'entry_limit_reached' } as const;
  const words = said({ ...denied, left_at: at - MINUTE_US });
  expect(words.details).toEqual([`Left ${timeText(en, at - MINUTE_US, at)}.`]);
});

test.each(REASONS)('%s has a sentence in both languages', (reason) => {
  for (const words of [en, af]) {
    expect(said({ colour: 'red', reason }, false, words).headline).toBe(words.reasons[reason]);
  }
});

test.each(['manifest_expired', 'gate_unknown', 'no_manifest'] as const)(
  'where a device cannot decide it says why: %s',
  (why) => {
    const words = said({ colour: 'red', outcome: 'invalid', why });
    expect(words.headline).toBe(en.verdict.undecided[why]);
    expect(words.marks).toEqual([en.verdict.offline]);
  },
);

test('a scan that the server has and the device could not store is let in, with a note', () => {
  const words = said({ is_unkept: true });
  expect(words.word).toBe('GO IN');
  expect(words.marks).toEqual([en.verdict.unkept]);
});

test('practice never shows that anything was stored', () => {
  expect(said({ colour: 'yellow', why: 'offline' }, true)).toMatchObject({
    word: 'GO IN',
    headline: null,
    marks: [en.verdict.practice],
  });
});

test('a scan that could not be recorded shows what to do', () => {
  const problem = { code: 'storage_full', said: null } as const;
  expect(verdictWords(en, { kind: 'problem', problem })).toEqual({
    word: 'STOP',
    headline: en.troubles.storage_full.what,
    details: [en.troubles.storage_full.todo],
    marks: [en.verdict.failed],
  });
});

test('notes of the server are shown in the language of the device, as far as they are known', () => {
  const note = 'Wheelchair place, companion beside in A1 and A2';
  expect(noteText(en, note)).toBe(note);
  expect(noteText(af, note)).toBe('Rolstoelplek, metgesel langsaan in A1 en A2');
  expect(noteText(af, 'Mind the step')).toBe('Mind the step');
});

test('the label of a seat is never broken', () => {
  expect(noteText(en, 'beside O-A-10')).toBe('beside O\u2011A\u201110');
});

test('a scan in a list shows its result', () => {
  expect(loggedText(en, aScan())).toBe('Entry');
  expect(loggedText(en, aScan({ direction: 'exit' }))).toBe('Exit');
  expect(loggedText(en, aScan({ outcome: 'invalid', reason: 'gate_closed' }))).toBe(
    en.reasons.gate_closed,
  );
  expect(loggedText(en, aScan({ outcome: 'expired' }))).toBe(en.outcomes.expired);
});

test('the reason of a refused scan is shown in words, also where it was not foreseen', () => {
  expect(syncErrorText(af, 'invalid_signature')).toBe(af.syncErrors.invalid_signature);
  expect(syncErrorText(en, 'wrong_event')).toBe(en.reasons.wrong_event);
  expect(syncErrorText(en, 'something odd')).toBe('The server said: something odd');
});

test('the reason of a refused scan is shown in the language of the device, as a sync stores it', async () => {
  const at = scene();
  const device = await ready(at);
  at.server.weather = ({ path }) => (path === '/api/scans' ? 'lost' : 'fine');
  const { scan_id } = await device.scan(codeOf(3), 'entry');
  at.server.spoilt.set(scan_id, Infinity);
  await device.sync();
  const [refused] = await device.queue('failed');
  at.closeAll();
  expect(refused?.last_error).toBe('invalid_signature: Not signed.');
  expect(syncErrorText(af, refused?.last_error ?? '')).toBe(af.syncErrors.invalid_signature);
});

test('a scan of another organisation shows that first, whatever else was wrong with it', () => {
  const kept = 'made for another organisation: gate_not_found: There is no such gate.';
  expect(syncErrorText(af, kept)).toBe(af.syncErrors.another_organization);
});
