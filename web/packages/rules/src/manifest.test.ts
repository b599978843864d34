import { describe, expect, test } from 'vitest';
import { fromHex, textOf, utf8 } from './bytes.ts';
import {
  applyDelta,
  barcodeHash,
  codeHash,
  contentHash,
  cut,
  DeltaDoesNotFit,
  isDelta,
  readCodeKey,
  tagOf,
  verify,
} from './manifest.ts';
import { readManifest, Register } from './register.ts';
import { below, casesOf, seeded } from './testing.ts';

interface Signed {
  name: string;
  api_key: string;
  document: string;
  content_hash: string;
  signature: string;
  offset_seconds: number | null;
  code_key: string;
  body: string;
}
interface Forged {
  reason: string;
  api_key: string;
  body: string;
}
interface Delta {
  name: string;
  before: string;
  delta: string;
  after: string;
  content_hash: string;
}
interface Misfit {
  reason: string;
  before: string;
  delta: string;
}

const signed = casesOf<Signed>('manifests', 'signed');
const deltas = casesOf<Delta>('manifests', 'deltas');

describe('a manifest signed for a device is verified by it:', () => {
  for (const given of signed) {
    test(given.name, async () => {
      const body = utf8(given.body);
      const found = (await verify(body, given.api_key))!;
      expect(textOf(found.document)).toBe(given.document);
      expect(found).toEqual(cut(body));
      expect(found.tail.offset_seconds).toBe(given.offset_seconds);
      expect(found.tail.signature).toBe(given.signature);
      expect(readCodeKey(found.tail)).toEqual(fromHex(given.code_key));
      expect(await contentHash(found.document)).toBe(given.content_hash);
      expect(isDelta(found.document)).toBe(false);
      const manifest = readManifest(found.document);
      expect(JSON.stringify(manifest)).toBe(given.document);
      expect(new Register(manifest, fromHex(given.code_key)).byTicket.size).toBe(
        manifest.tickets.length,
      );
    });
  }
});

describe('a forged manifest is refused:', () => {
  for (const { reason, api_key, body } of casesOf<Forged>('manifests', 'forged')) {
    test(reason, async () => {
      expect(await verify(utf8(body), api_key)).toBeNull();
    });
  }
});

describe('a delta leads to the next manifest:', () => {
  for (const { name, before, delta, after, content_hash } of deltas) {
    test(name, async () => {
      const applied = await applyDelta(utf8(before), utf8(delta));
      expect(textOf(applied)).toBe(after);
      expect(await contentHash(applied)).toBe(content_hash);
      expect(isDelta(utf8(delta))).toBe(true);
      expect(await applyDelta(applied, utf8(delta)), 'applied twice it is applied once').toEqual(
        applied,
      );
    });
  }
});

describe('a delta that does not fit is refused:', () => {
  for (const { reason, before, delta } of casesOf<Misfit>('manifests', 'misfits')) {
    test(reason, async () => {
      await expect(applyDelta(utf8(before), utf8(delta))).rejects.toThrow(DeltaDoesNotFit);
    });
  }
});

describe('a code is found under its hash:', () => {
  const codes = casesOf<{ code_key: string; code: string; code_hash: string }>(
    'manifests',
    'codes',
  );
  for (const { code_key, code, code_hash } of codes) {
    test(code, async () => {
      expect(await codeHash(fromHex(code_key), code)).toBe(code_hash);
    });
  }
});

describe('a barcode is found under its hash:', () => {
  const barcodes = casesOf<{ text: string; barcode_hash: string }>('manifests', 'barcodes');
  for (const { text, barcode_hash } of barcodes) {
    test(text, async () => {
      expect(await barcodeHash(text)).toBe(barcode_hash);
    });
  }
});

describe('the tag of a manifest for the next request:', () => {
  interface Tagged {
    manifest_version: number;
    content_hash: string;
    tag: string;
  }
  for (const { manifest_version, content_hash, tag } of casesOf<Tagged>('manifests', 'tags')) {
    test(tag, () => expect(tagOf(manifest_version, content_hash)).toBe(tag));
  }
});

test('every flipped bit is noticed, in the signed text and in the signature itself', async () => {
  const random = seeded(7);
  const { api_key, document, body } = signed.find(({ name }) => name === 'no tickets')!;
  const whole = utf8(body);
  // Between them are the offset and the code key, which nobody signed.
  const signedBytes = utf8(document).length - 1 + ',"offset_seconds":'.length;
  const signature = whole.length - utf8(',"signature":"HMAC-SHA256="}').length - 64;
  for (let times = 0; times < 2_000; times++) {
    const flipped = whole.slice();
    const place = below(random, whole.length);
    flipped[place]! ^= 1 << below(random, 8);
    const found = await verify(flipped, api_key);
    if (place < signedBytes || place >= signature) expect(found, `${place}`).toBeNull();
    else expect(found === null || textOf(found.document) === document).toBe(true);
  }
});

test('nothing that somebody sends is more than refused', async () => {
  const random = seeded(8);
  for (let times = 0; times < 300; times++) {
    const noise = Uint8Array.from({ length: below(random, 80) }, () => below(random, 256));
    const tailed = new Uint8Array([...utf8('{"x":1,"offset_seconds":'), ...noise]);
    expect(await verify(noise, 'vgd_')).toBeNull();
    expect(await verify(tailed, 'vgd_')).toBeNull();
    expect(isDelta(noise)).toBe(false);
    await expect(applyDelta(utf8(signed[0]!.document), noise)).rejects.toThrow(DeltaDoesNotFit);
    await expect(applyDelta(noise, utf8(deltas[0]!.delta))).rejects.toThrow(DeltaDoesNotFit);
  }
  for (const odd of ['null', '5', '[]', '"settings"', '{}']) {
    await expect(applyDelta(utf8(signed[0]!.document), utf8(odd))).rejects.toThrow(DeltaDoesNotFit);
  }
});

test('whatever a seat is called, entries are cut where they end', async () => {
  const { before, delta } = deltas.find(({ name }) => name === 'the first tickets')!;
  const given = JSON.parse(delta) as { tickets: Array<Record<string, unknown>> };
  const manifest = JSON.parse(before) as { tickets: Array<Record<string, unknown>> };
  const odd = [
    '},{"ticket_id":"',
    ',"tickets":[',
    ']}',
    '"',
    '\\',
    '\\"},{\\"ticket_id\\":\\"',
    '}',
  ];
  const entries = odd.map((seat, place) => ({
    ...given.tickets[0],
    ticket_id: `0190a1b2-ffff-7000-8000-00000000000${place}`,
    seat,
  }));
  const after = { ...manifest, manifest_version: 9, tickets: entries };
  const wanted = utf8(JSON.stringify(after));
  const { event_id, event_name, generated_at, expires_at, occupancy } = JSON.parse(before);
  const changes = {
    ...{ event_id, since: 1, manifest_version: 9, generated_at, expires_at, event_name },
    ...{ content_hash: await contentHash(wanted), occupancy, tickets: entries.slice(3) },
  };
  const first = utf8(JSON.stringify({ ...manifest, tickets: entries.slice(0, 4) }));
  expect(await applyDelta(first, utf8(JSON.stringify(changes)))).toEqual(wanted);
});

test('a code key is 32 bytes in the alphabet of addresses, or none', () => {
  const tail = cut(utf8(signed[0]!.body))!.tail;
  for (const code_key of [
    '',
    'AAAA',
    `${tail.code_key}AAAA`,
    tail.code_key.slice(1),
    `+${tail.code_key.slice(1)}`,
    ' ',
  ]) {
    expect(readCodeKey({ ...tail, code_key }), code_key).toBeNull();
  }
});
