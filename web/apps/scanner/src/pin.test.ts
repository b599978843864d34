import { aMemory } from '@voelgoed/ui/testing';
import { expect, test } from 'vitest';
import { ATTEMPTS_MAX, Pin, WAIT_MS } from './pin.svelte.ts';

test('without a PIN the settings are open', () => {
  expect(new Pin(aMemory()).isOpen).toBe(true);
});

test('with a PIN the settings are closed after a restart, and open with the PIN', async () => {
  const memory = aMemory();
  expect(await new Pin(memory).set('4711')).toBe(true);
  const pin = new Pin(memory);
  expect(pin.isOpen).toBe(false);
  expect(await pin.try('4712')).toBe('wrong');
  expect(await pin.try('4711')).toBe('right');
  expect(pin.isOpen).toBe(true);
  pin.lock();
  expect(pin.isOpen).toBe(false);
});

test.each(['123', '123456789', '12a4', ''])('%s is no PIN', async (text) => {
  expect(await new Pin(aMemory()).set(text)).toBe(false);
});

test('after wrong guesses one has to wait, also after a reload', async () => {
  const memory = aMemory();
  let now = 1_000_000;
  await new Pin(memory, () => now).set('4711');
  const guess = () => new Pin(memory, () => now).try('0000');
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt += 1) expect(await guess()).toBe('wrong');
  expect(await guess()).toBe('wait');
  const pin = new Pin(memory, () => now);
  expect(pin.waitSeconds).toBe(WAIT_MS / 1_000);
  expect(await pin.try('4711')).toBe('wait');
  now += WAIT_MS;
  expect(await pin.try('4711')).toBe('right');
});

test('a PIN that was removed is not asked for', async () => {
  const memory = aMemory();
  const pin = new Pin(memory);
  await pin.set('4711');
  pin.remove();
  expect(new Pin(memory).isOpen).toBe(true);
});
