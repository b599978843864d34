import { expect, test } from 'vitest';
import { formatTyped, readTyped, typedProposals } from './typed.ts';

test.each([
  '7K2M-9QXD-4F1A',
  '7k2m9qxd4f1a',
  '  7k2m 9qxd 4f1a ',
  '7K2M–9QXD—4F1A',
  '7 k2m-9q xd.4f1a',
])('%s is read as the code that it is', (text) => {
  expect(readTyped(text)).toBe('7K2M-9QXD-4F1A');
});

test.each(['', '7K2M-9QXD-4F1', '7K2M-9QXD-4F1AA', '7K2M-9QXD-4F1?', 'ſK2M-9QXD-4F1A'])(
  '%s is no code',
  (text) => {
    expect(readTyped(text)).toBeNull();
    expect(typedProposals(text)).toEqual([]);
  },
);

test('nothing is corrected in a code, but look-alikes are proposed after it', () => {
  expect(typedProposals('o00O-il1L-abcd')).toEqual(['O00O-IL1L-ABCD', '0000-1111-ABCD']);
});

test('a code without look-alikes is proposed alone', () => {
  expect(typedProposals('7k2m9qxd4f1a')).toEqual(['7K2M-9QXD-4F1A']);
});

test('no code of ours is proposed for one with a letter that ours never have', () => {
  expect(typedProposals('U000-000O-0000')).toEqual(['U000-000O-0000']);
});

test('dashes appear while somebody types, and the caret stays behind the same symbol', () => {
  let shown = { text: '', caret: 0 };
  for (const symbol of '7k2m9qxd4f1a') shown = formatTyped(shown.text + symbol, shown.caret + 1);
  expect(shown).toEqual({ text: '7K2M-9QXD-4F1A', caret: 14 });
});

test('a symbol put in or taken out in the middle moves the dashes and not the caret', () => {
  expect(formatTyped('7Kx2M-9QXD', 3)).toEqual({ text: '7KX2-M9QX-D', caret: 3 });
  expect(formatTyped('7K2-9QXD', 3)).toEqual({ text: '7K29-QXD', caret: 3 });
});

test('a dash at the end can be deleted', () => {
  expect(formatTyped('7K2M-', 5)).toEqual({ text: '7K2M', caret: 4 });
});

test('a whole barcode that is pasted stays as it is', () => {
  const text = 'VG17K2M9QXD4F1AW50ZCIDSM7DW%20000000000.D5V503H0';
  expect(formatTyped(text, 4)).toEqual({ text, caret: 4 });
});
