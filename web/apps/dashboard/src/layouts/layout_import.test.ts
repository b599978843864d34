import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { LayoutImport, type Destination } from './layout_import.svelte.ts';
import { LAYOUT_BYTES_MAX } from './source.ts';
import { aLayout, aRow } from './testing.ts';

const CHECK = 'POST /api/layout-checks';
const READ = 'POST /api/layout-readings';
const NAMES = { name: ' Hall ', description: '' };

function anImport(answers: Answers, destination: Destination = { venueId: 'venue' }): LayoutImport {
  return new LayoutImport(anApi(answers), destination, (numbers) => `fault ${numbers.join()}`);
}

async function pasted(text: string, answers: Answers): Promise<LayoutImport> {
  const layout = anImport(answers);
  layout.pasted = text;
  await layout.check();
  return layout;
}

test('every fault is listed by number, and marked where it is', async () => {
  const data = [
    { path: '$.zones[0].seats[1].row', message: 'is missing' },
    { path: '$.total_capacity', message: 'must be 2' },
  ];
  const layout = await pasted(JSON.stringify(aRow([1, 2])), {
    [CHECK]: () => json(200, { data }),
  });
  expect(layout.isSound).toBe(false);
  expect(layout.checked?.findings.map(({ number, mark }) => [number, Boolean(mark)])).toEqual([
    [1, true],
    [2, false],
  ]);
  expect(layout.checked?.marks.map(({ name }) => name)).toEqual(['fault 1']);
  expect(layout.checked?.states.length).toBe(2);
});

test('what is no JSON goes nowhere, and its place is told', async () => {
  const layout = await pasted('{\n  "zones": [}', {});
  expect(layout.syntax).toMatchObject({ line: 2, column: 13 });
  expect([layout.problem, layout.checked]).toEqual([undefined, undefined]);
});

test('JSON that is no object is a fault', async () => {
  expect((await pasted('[]', {})).checked?.findings).toMatchObject([{ path: '$' }]);
});

test('a text is read by the server, and its faults have lines', async () => {
  let form = '';
  const layout = await pasted('zone hall', {
    [READ]: async (request) => {
      form = ((await request.json()) as { form: string }).form;
      const faults = [{ line: 1, message: 'say more', path: '' }];
      return json(200, { data: { config: {}, faults } });
    },
  });
  expect(form).toBe('text');
  expect(layout.checked?.findings).toMatchObject([{ line: 1, mark: undefined }]);
});

test('nothing, something too large, and another encoding are told before anything is sent', async () => {
  const layout = await pasted('', {});
  expect(layout.unreadable).toBe('nothing');
  const large = new File([], 'house.json');
  Object.defineProperty(large, 'size', { value: LAYOUT_BYTES_MAX + 1 });
  layout.file = large;
  await layout.check();
  expect(layout.unreadable).toBe('too_large');
  layout.file = new File([new Uint8Array([0xff])], 'house.json');
  await layout.check();
  expect(layout.unreadable).toBe('not_utf8');
});

test('what could not be checked is told, and can be checked again', async () => {
  const answers: Answers = { [CHECK]: () => refusal(413, 'body_too_large') };
  const layout = await pasted(JSON.stringify(aRow([1])), answers);
  expect([layout.problem?.code, layout.isBusy]).toEqual(['body_too_large', false]);
  answers[CHECK] = () => json(200, { data: [] });
  await layout.check();
  expect([layout.problem, layout.isSound]).toEqual([undefined, true]);
});

test('a sound one is stored once, however often it is sent', async () => {
  const keys: (string | null)[] = [];
  const bodies: unknown[] = [];
  const answers: Answers = { [CHECK]: () => json(200, { data: [] }) };
  answers['POST /api/venues/venue/layouts'] = async (request) => {
    keys.push(request.headers.get('Idempotency-Key'));
    bodies.push(await request.json());
    return keys.length === 1 ? refusal(503, 'unavailable') : json(201, { data: aLayout() });
  };
  const layout = await pasted(JSON.stringify(aRow([1])), answers);
  await expect(layout.store(NAMES, 'draft')).rejects.toMatchObject({ code: 'unavailable' });
  await layout.store(NAMES, 'draft');
  await layout.store({ ...NAMES, name: 'Another' }, 'draft');
  expect(keys[0]).toBe(keys[1]);
  expect(keys[2]).not.toBe(keys[1]);
  expect(bodies[0]).toEqual({ name: 'Hall', description: '', status: 'draft', config: aRow([1]) });
  expect(layout.stored?.id).toBe('one');
});

test('a next version goes to the layout it is a version of', async () => {
  const layout = anImport(
    {
      [CHECK]: () => json(200, { data: [] }),
      'POST /api/layouts/one/versions': () => json(201, { data: aLayout({ version: 2 }) }),
    },
    { versionOf: 'one' },
  );
  layout.pasted = JSON.stringify(aRow([1]));
  await layout.check();
  expect((await layout.store(NAMES, 'active')).version).toBe(2);
});
