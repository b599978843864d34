import { expect, test } from 'vitest';
import { aMemory } from '@voelgoed/ui/testing';
import { ONLINE_WAIT_MS, Settings } from './settings.svelte.ts';

test('begins in the language of the browser, and waits a second and a half for the server', () => {
  const settings = new Settings(aMemory(), ['af-ZA', 'en']);
  expect(settings.words.locale).toBe('af-ZA');
  expect(settings.current).toMatchObject({ onlineWaitMs: ONLINE_WAIT_MS, direction: 'entry' });
});

test('is in English where it has none of the wanted languages', () => {
  expect(new Settings(aMemory(), ['xh', 'zu-ZA']).current.language).toBe('en');
  expect(new Settings(aMemory(), ['xh', 'AF']).current.language).toBe('af');
});

test('chosen settings are there after a restart', () => {
  const memory = aMemory();
  new Settings(memory, ['en']).change({ language: 'af', direction: 'exit', wedgePrefix: '~' });
  expect(new Settings(memory, ['en']).current).toMatchObject({
    language: 'af',
    direction: 'exit',
    wedgePrefix: '~',
  });
});

test.each(['no JSON', '[]', 'null', '{"language":"nl","volume":7,"theme":1,"onlineWaitMs":1e9}'])(
  'what makes no sense is as if it had not been kept: %s',
  (text) => {
    const memory = aMemory();
    memory.keep('voelgoed.scanner.settings', text);
    expect(new Settings(memory, ['en']).current).toEqual(new Settings(aMemory(), ['en']).current);
  },
);
