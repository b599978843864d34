import { ApiError } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { Edited } from './edited.svelte.ts';
import { only } from './filled.ts';

interface Thing {
  name: string;
  zones: string[];
  version: number;
}

/** A server that keeps one thing and refuses who saw another version of it. */
class AServer {
  kept: Thing = { name: 'North', zones: ['a'], version: 1 };
  sent: object[] = [];
  isGone = false;

  edited(): Edited<Thing, { name: string; zones: string[] }> {
    return new Edited({
      read: async () => this.#answer(this.kept),
      fieldsOf: ({ name, zones }) => ({ name, zones }),
      send: async (fields, changed, { version }) => {
        const change = only(fields, changed);
        this.sent.push(change);
        if (version !== this.kept.version) throw new ApiError('version_conflict', 'Late.', {}, 409);
        this.kept = { ...this.kept, ...change, version: version + 1 };
        return this.#answer(this.kept);
      },
    });
  }

  #answer(thing: Thing): Thing {
    if (this.isGone) throw ApiError.network();
    return thing;
  }
}

test('what is read can be typed over, and only that is sent', async () => {
  const server = new AServer();
  const edited = server.edited();
  await edited.load();
  edited.fields.name = 'South';
  await edited.save();
  expect(server.sent).toEqual([{ name: 'South' }]);
  expect(edited.isSaved).toBe(true);
  expect(edited.changed.size).toBe(0);
  expect(edited.current?.version).toBe(2);
  edited.fields.name = 'West';
  expect(edited.isSaved).toBe(false);
});

test('who was too late keeps what they typed and sees what the other did', async () => {
  const server = new AServer();
  const edited = server.edited();
  await edited.load();
  edited.fields.name = 'South';
  server.kept = { name: 'West', zones: ['a', 'b'], version: 2 };
  await expect(edited.save()).rejects.toMatchObject({ code: 'version_conflict' });
  expect($state.snapshot(edited.fields)).toEqual({ name: 'South', zones: ['a', 'b'] });
  expect(edited.isSaved).toBe(false);

  await edited.save();
  expect(server.kept).toEqual({ name: 'South', zones: ['a', 'b'], version: 3 });
});

test('a list is changed when something is added to it', async () => {
  const server = new AServer();
  const edited = server.edited();
  await edited.load();
  edited.fields.zones.push('b');
  expect([...edited.changed]).toEqual(['zones']);
  await edited.save();
  expect(server.kept.zones).toEqual(['a', 'b']);
});

test('what cannot be read says why, and what was read stays', async () => {
  const server = new AServer();
  const edited = server.edited();
  server.isGone = true;
  await edited.load();
  expect([edited.status, edited.problem?.code]).toEqual(['failed', 'network']);
  server.isGone = false;
  await edited.load();
  expect([edited.status, edited.problem]).toEqual(['ready', undefined]);
  server.isGone = true;
  await edited.load();
  expect([edited.status, edited.fields.name]).toEqual(['ready', 'North']);
});
