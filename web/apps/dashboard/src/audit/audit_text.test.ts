import { expect, test } from 'vitest';
import { LANGUAGES } from '../messages/index.ts';
import { actionText, changeTexts, choices, thingText } from './audit_text.ts';

const { en, af } = LANGUAGES;

const SOURCES = import.meta.glob<string>('../../../../../voelgoed/*/actions/*.py', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** What the server records: `"gate_changed", "Gate"`. */
function recorded(): [string, string][] {
  return Object.values(SOURCES)
    .filter((text) => text.includes('accounts.actions.audit'))
    .flatMap((text) => [...text.matchAll(/"([a-z]+(?:_[a-z]+)+)",\s*"([A-Z][A-Za-z]+)"/g)])
    .map(([, action, thing]) => [action!, thing!]);
}

test('whatever the server records has words', () => {
  const all = recorded();
  expect(all.length).toBeGreaterThan(50);
  const unknown = all.filter(
    ([action, thing]) => !(action in en.audit.actions) || !(thing in en.audit.things),
  );
  // Names of domain events look alike and are recorded elsewhere.
  expect(unknown.filter(([, thing]) => !/^(Order|Seat|Ticket)[A-Z]/.test(thing))).toEqual([]);
});

test('a word that is not known is told as it is', () => {
  expect(actionText(en, 'gate_changed')).toBe('A gate was changed');
  expect(actionText(af, 'gate_changed')).toBe('’n Hek is verander');
  expect(actionText(en, 'roof_raised')).toBe('roof_raised');
  expect(thingText(en, 'ScanDevice')).toBe('Device');
  expect(thingText(en, 'Roof')).toBe('Roof');
});

test('what can be chosen stands in the order of the alphabet, after everything', () => {
  const offered = choices(en, { b: 'Zebra', a: 'Ape' }, 'Anything');
  expect(offered.map(({ value }) => value)).toEqual(['', 'a', 'b']);
});

test('tells what changed from what to what, and leaves out what says nothing', () => {
  const changes = {
    status: { from: 'open', to: 'closed' },
    name: 'North',
    note: '',
    zones: [1, 2],
  };
  expect(changeTexts(en, changes)).toEqual(['Status: open → closed', 'Name: North', 'zones: 1, 2']);
  expect(changeTexts(en, { roof_name: { from: null, to: 'X' } })).toEqual(['roof name: – → X']);
});

test('why somebody was turned away is told as at the gate, and a reason as it was given', () => {
  expect(changeTexts(en, { reason: 'wrong_gate' })).toEqual([`Reason: ${en.reasons.wrong_gate}`]);
  expect(changeTexts(en, { reason: 'Rain.' })).toEqual(['Reason: Rain.']);
});

test('what has a name is not told by its id as well', () => {
  const changes = { gate_id: 'g', gate_name: 'North', ticket_id: 't', device_id: 'd' };
  expect(changeTexts(en, changes)).toEqual(['Name of the gate: North', 'Ticket: t', 'Device: d']);
});

test('amounts are money, and without a currency at least an amount', () => {
  expect(changeTexts(en, { total_minor: 24_050, currency: 'ZAR' })[0]).toMatch(
    /^Total: R\s?240.50$/,
  );
  expect(changeTexts(en, { amount_minor: 24_050 })[0]).toMatch(/^Amount: 240.50$/);
});
