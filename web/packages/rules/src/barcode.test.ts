import { describe, expect, test } from 'vitest';
import { ALPHABET, fromBase45 } from './base45.ts';
import { eventHint, readBarcode, verifyBarcode, type BarcodeFields } from './barcode.ts';
import { fromHex, utf8 } from './bytes.ts';
import { hasEd25519 } from './crypto.ts';
import { barcodeHash } from './manifest.ts';
import { casesOf, partOf } from './testing.ts';

interface Good {
  name: string;
  code: string;
  fields: BarcodeFields;
  text: string;
  sha256: string;
}
interface Bad {
  reason: string;
  readable: boolean;
  text: string;
}

const EVENT = partOf<string>('barcodes', 'event_id');
const KEYS = new Map(
  Object.entries(partOf<Record<string, string>>('barcodes', 'public_keys')).map(([number, key]) => [
    Number(number),
    fromHex(key),
  ]),
);
const good = casesOf<Good>('barcodes', 'good');

async function isGenuine(text: string): Promise<boolean> {
  const barcode = readBarcode(text);
  return barcode !== null && verifyBarcode(barcode, EVENT, KEYS);
}

describe('a good barcode is read and verified:', () => {
  for (const { name, code, fields, text, sha256 } of good) {
    test(name, async () => {
      expect(readBarcode(text)).toMatchObject({ code, fields, event_hint: await eventHint(EVENT) });
      expect(await isGenuine(text)).toBe(true);
      expect(await barcodeHash(text)).toBe(`sha256:${sha256}`);
    });
  }
});

describe('a bad barcode is refused:', () => {
  for (const { reason, readable, text } of casesOf<Bad>('barcodes', 'bad')) {
    test(reason, async () => {
      expect(readBarcode(text) !== null).toBe(readable);
      expect(await isGenuine(text)).toBe(false);
    });
  }
});

const TEXT = good[0]?.text ?? '';

test('every single character of a barcode counts', async () => {
  const others = [ALPHABET[0], ALPHABET[13], ALPHABET[44], 'a', 'é', '\n', '\ud800'];
  for (let at = 0; at < TEXT.length; at++) {
    for (const other of others) {
      const changed = TEXT.slice(0, at) + other + TEXT.slice(at + 1);
      expect(await isGenuine(changed), `${at} ${other}`).toBe(changed === TEXT);
    }
  }
});

test('without the key of that number, or with another one, nothing is verified', async () => {
  const barcode = readBarcode(TEXT)!;
  const [one, two] = [KEYS.get(1)!, KEYS.get(2)!];
  expect(await verifyBarcode(barcode, EVENT, new Map())).toBe(false);
  expect(await verifyBarcode(barcode, EVENT, new Map([[1, two]]))).toBe(false);
  expect(await verifyBarcode(barcode, EVENT, new Map([[1, one.slice(1)]]))).toBe(false);
  expect(await verifyBarcode(barcode, EVENT, new Map([[1, one]]))).toBe(true);
});

test('this is a place where barcodes can be verified', async () => {
  expect(await hasEd25519()).toBe(true);
});

test.each([
  ['', ''],
  ['AB', 'BB8'],
  ['Hello!!', '%69 VD92EX0'],
  ['base-45', 'UJCLQE7W581'],
  ['ietf!', 'QED8WEX0'],
])('base45 is that of the RFC: %j', (raw, text) => {
  expect(fromBase45(text)).toEqual(utf8(raw));
});

test.each(['A', 'ABCD', 'GGW', ':::', 'V5', '::', 'ab8', 'A\n', 'É00', '00１'])(
  'base45 refuses what stands for no bytes: %j',
  (text) => {
    expect(fromBase45(text)).toBeNull();
  },
);

test('every group of two is one byte or refused', () => {
  const pairs = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));
  const read = pairs.flatMap((pair) => [...(fromBase45(pair) ?? [])]);
  expect(read.sort((one, other) => one - other)).toEqual(Array.from(Array(256).keys()));
});
