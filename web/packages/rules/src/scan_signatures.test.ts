import { describe, expect, test, vi } from 'vitest';
import { textOf } from './bytes.ts';
import { isSignedBy, signedBytes, signScan, type SignedFields } from './scan_signatures.ts';
import { casesOf } from './testing.ts';

interface Signed {
  name: string;
  fields: SignedFields;
  api_key: string;
  signature: string;
}

const good = casesOf<Signed & { signed: string }>('scan_signatures', 'good');

describe('a scan is signed:', () => {
  for (const { name, fields, api_key, signed, signature } of good) {
    test(name, async () => {
      expect(textOf(signedBytes(fields))).toBe(signed);
      expect(await signScan(fields, api_key)).toBe(signature);
      expect(await isSignedBy(signature, fields, api_key)).toBe(true);
    });
  }
});

describe('a signature is refused:', () => {
  for (const { name, fields, api_key, signature } of casesOf<Signed>('scan_signatures', 'bad')) {
    test(name, async () => {
      expect(await isSignedBy(signature, fields, api_key)).toBe(false);
    });
  }
});

test('the order of the fields and others beside them do not matter', async () => {
  const { fields, api_key, signature } = good[0]!;
  const { scan_id, ...rest } = fields;
  const asKept = { outcome: 'valid', ...rest, scan_id };
  expect(await signScan(asKept, api_key)).toBe(signature);
});

test('a key is imported once, and forgotten when there were many others', async () => {
  const importing = vi.spyOn(crypto.subtle, 'importKey');
  const { fields } = good[0]!;
  for (let times = 0; times < 3; times++) await signScan(fields, 'vgd_of this test alone');
  expect(importing).toHaveBeenCalledTimes(1);
  for (let other = 0; other < 40; other++) await signScan(fields, `vgd_${other}`);
  await signScan(fields, 'vgd_of this test alone');
  expect(importing).toHaveBeenCalledTimes(42);
  importing.mockRestore();
});
