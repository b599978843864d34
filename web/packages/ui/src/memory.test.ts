import { expect, test } from 'vitest';
import { Memory } from './memory.ts';
import { aMemory } from './testing.ts';

test('recalls what was kept until it is forgotten', () => {
  const memory = aMemory();
  memory.keep('colour', 'green');
  expect(memory.recall('colour')).toBe('green');
  memory.forget('colour');
  expect(memory.recall('colour')).toBeUndefined();
});

test('a browser that forbids storage only forgets', () => {
  const memory = new Memory(() => {
    throw new Error('SecurityError');
  });
  memory.keep('colour', 'green');
  expect(memory.recall('colour')).toBeUndefined();
  memory.forget('colour');
});
