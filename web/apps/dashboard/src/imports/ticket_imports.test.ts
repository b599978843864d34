import type { TicketImport } from '@voelgoed/api';
import { anApi, json, refusal, type Answers } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { TicketImports } from './ticket_imports.svelte.ts';

const PATH = '/api/events/event/ticket-imports';

function aServer(status: TicketImport['status'], asked: string[] = []): Answers {
  return {
    [`GET ${PATH}`]: () => {
      asked.push('list');
      return json(200, { data: [{ id: 'i', status }], next: null });
    },
    [`POST ${PATH}`]: async (request) => {
      asked.push(new URL(request.url).search, request.headers.get('Content-Type') ?? '');
      asked.push(await request.text());
      return json(202, { data: { id: 'i' } });
    },
  };
}

const file = new File(['type,zone\n'], 'sold elsewhere.csv');

test('a file goes out as it is, by its name, and the list shows it', async () => {
  const asked: string[] = [];
  const imports = new TicketImports(anApi(aServer('waiting', asked)), 'event');
  expect(await imports.send(file, true)).toBe(true);
  const [query, type, text, list] = asked;
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
    dry_run: 'true',
    file_name: 'sold elsewhere.csv',
  });
  expect([type, text, list]).toEqual(['text/csv', 'type,zone\n', 'list']);
});

test('a file that is refused is told with its reason', async () => {
  const answers = aServer('done');
  answers[`POST ${PATH}`] = () => refusal(413, 'too_large', 'The file is too large.');
  const imports = new TicketImports(anApi(answers), 'event');
  expect(await imports.send(file, false)).toBe(false);
  expect(imports.refusal?.code).toBe('too_large');
  expect(imports.isSending).toBe(false);
});

test('what is wrong with a file as a whole is named, line by line', async () => {
  const answers = aServer('done');
  const faults = [{ line: 1, field: 'header', message: 'the column `type` is missing' }];
  answers[`POST ${PATH}`] = () =>
    json(422, { error: 'invalid_ticket_file', message: 'No table.', details: { faults } });
  const imports = new TicketImports(anApi(answers), 'event');
  expect(imports.fileFaults).toEqual([]);
  await imports.send(file, true);
  expect(imports.fileFaults).toEqual(faults);
  answers[`POST ${PATH}`] = () =>
    json(422, { error: 'invalid_request', message: 'No.', details: { faults: [{ path: '$' }] } });
  await imports.send(file, true);
  expect(imports.fileFaults).toEqual([]);
});

test('looks again only while something is going on', async () => {
  const asked: string[] = [];
  const answers = aServer('running', asked);
  const imports = new TicketImports(anApi(answers), 'event');
  await imports.list.load();
  answers[`GET ${PATH}`] = aServer('done', asked)[`GET ${PATH}`]!;
  await imports.look();
  await imports.look();
  expect(asked).toEqual(['list', 'list']);
});
