import { describe, expect, test, vi } from 'vitest';
import { fromHex } from './bytes.ts';
import type { Manifest } from './manifest_model.ts';
import type { Decision, Direction, OwnScan, OwnScans, Reason, Undecided } from './model.ts';
import { momentText, parseMoment, type Moment } from './moments.ts';
import { decideOffline } from './offline.ts';
import { isManifest } from './manifest_shape.ts';
import { Register } from './register.ts';
import { below, casesOf, partOf, seeded } from './testing.ts';

interface WrittenScan {
  ticket_id: string;
  at: string;
  direction: Direction;
  gate: string;
  acknowledged_at: string | null;
}
interface Given {
  manifest: Manifest;
  code_key: string;
  text: string;
  gate: string;
  direction: Direction;
  at: string;
  own: WrittenScan[];
}
interface OfflineCase {
  name: string;
  with: Partial<Omit<Given, 'manifest'>> & { manifest?: Partial<Manifest> };
  gives: Record<string, unknown>;
}

const base = partOf<Given>('offline_decisions', 'base');
const cases = casesOf<OfflineCase>('offline_decisions', 'cases');

function givenOf(changes: OfflineCase['with']): Given {
  return { ...base, ...changes, manifest: { ...base.manifest, ...changes.manifest } };
}

function decided(given: Given): Promise<Decision | Undecided> {
  expect(isManifest(given.manifest)).toBe(true);
  return decideOffline(new Register(given.manifest, fromHex(given.code_key)), given.text, {
    gate: given.gate,
    direction: given.direction,
    at: parseMoment(given.at),
    own: byTicket(given.own.map(read)),
  });
}

function byTicket(scans: readonly OwnScan[]): OwnScans {
  const ids = new Set(scans.map((scan) => scan.ticket_id));
  return new Map(Array.from(ids, (id) => [id, scans.filter((scan) => scan.ticket_id === id)]));
}

function read({ at, acknowledged_at, ...rest }: WrittenScan): OwnScan {
  const acknowledged = acknowledged_at === null ? null : parseMoment(acknowledged_at);
  return { ...rest, at: parseMoment(at), acknowledged_at: acknowledged };
}

/** A decision as a contract has it: null, no note, and not forged are left out. */
function told(decision: Decision | Undecided): Record<string, unknown> {
  if (typeof decision === 'string') return { undecided: decision };
  const { verdict, shown, ...rest } = decision;
  const seen = said({ ...shown, last_scanned_at: written(shown.last_scanned_at) });
  return said({
    ...verdict,
    left_at: written(verdict.left_at),
    may_return_at: written(verdict.may_return_at),
    ...rest,
    shown: Object.keys(seen).length > 0 ? seen : null,
  });
}

function written(moment: Moment | null): string | null {
  return moment === null ? null : momentText(moment);
}

function said(fields: object): Record<string, unknown> {
  const isNothing = (value: unknown) =>
    value === null || value === false || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isNothing(value)));
}

async function reasonOf(given: Given): Promise<Reason | Undecided | null> {
  const decision = await decided(given);
  return typeof decision === 'string' ? decision : decision.verdict.reason;
}

describe('a device alone:', () => {
  for (const { name, with: changes, gives } of cases) {
    test(name, async () => {
      expect(told(await decided(givenOf(changes)))).toEqual(gives);
    });
  }
});

describe('a gate by its id is the gate by its code:', () => {
  const ids = new Map(base.manifest.gates.map((gate) => [gate.gate_id, gate.id]));
  const idOf = (code: string) => ids.get(code) ?? code;
  for (const { name, with: changes, gives } of cases) {
    test(name, async () => {
      const given = givenOf(changes);
      const own = given.own.map((scan) => ({ ...scan, gate: idOf(scan.gate) }));
      expect(told(await decided({ ...given, own, gate: idOf(given.gate) }))).toEqual(gives);
    });
  }
});

test('the order in which a device remembers does not matter', async () => {
  for (const { with: changes, gives } of cases) {
    const given = givenOf(changes);
    expect(told(await decided({ ...given, own: given.own.toReversed() }))).toEqual(gives);
  }
});

test('a barcode with a changed letter is not admitted', async () => {
  const random = seeded(3);
  const { text } = cases.find(({ name }) => name === 'sold since')!.with;
  expect(await reasonOf(givenOf({ text: text! }))).toBeNull();
  for (let times = 0; times < 300; times++) {
    const place = below(random, text!.length);
    const letter = String.fromCharCode(below(random, times % 2 ? 0x80 : 0xffff));
    const changed = text!.slice(0, place) + letter + text!.slice(place + 1);
    expect((await reasonOf(givenOf({ text: changed }))) === null).toBe(changed === text);
  }
});

test('whatever is shown there is an answer', async () => {
  const random = seeded(4);
  const beginnings = ['', 'VG1', 'VG17K2M9QXD4F1A', base.text, base.text.slice(0, -3), '7K2M-'];
  const letters = [
    () => String.fromCharCode(below(random, 0x20)),
    () => String.fromCharCode(below(random, 0x80)),
    () => String.fromCharCode(0xd800 + below(random, 0x800)),
    () => String.fromCodePoint(below(random, 0x110000)),
    () => base.text.charAt(below(random, base.text.length)),
  ];
  const register = new Register(base.manifest, fromHex(base.code_key));
  const about = { gate: base.gate, at: parseMoment(base.at), own: new Map<string, OwnScan[]>() };
  for (let times = 0; times < 600; times++) {
    const letter = letters[times % letters.length]!;
    const length = 1 + below(random, times % 50 === 0 ? 10_000 : 200);
    const text = beginnings[times % beginnings.length]! + Array.from({ length }, letter).join('');
    const direction = times % 2 ? 'entry' : 'exit';
    const decision = await decideOffline(register, text, { ...about, direction });
    expect(decision).toMatchObject({ verdict: { reason: 'ticket_not_found' }, ticket_id: null });
    expect(decision).toMatchObject({
      barcode_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
  }
});

test('where barcodes cannot be verified none is called forged', async () => {
  const forged = cases.find(({ name }) => name === 'sold since, signed by a stranger')!.with;
  const importing = vi.spyOn(crypto.subtle, 'importKey');
  importing.mockRejectedValue(new DOMException('Unrecognized name.', 'NotSupportedError'));
  vi.resetModules();
  const fresh = await import('./offline.ts');
  const register = new Register(base.manifest, fromHex(base.code_key));
  const about = { gate: 'north', direction: 'entry' as const, own: new Map<string, OwnScan[]>() };
  const decision = await fresh.decideOffline(register, forged.text!, {
    ...about,
    at: parseMoment(base.at),
  });
  importing.mockRestore();
  expect(decision).toMatchObject({ verdict: { reason: 'ticket_not_found' }, is_forged: false });
});
