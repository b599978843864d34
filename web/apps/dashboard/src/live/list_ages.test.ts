import { expect, test } from 'vitest';
import { ListAges } from './list_ages.ts';

const at = (second: number) => `2030-01-01T16:00:${String(second).padStart(2, '0')}Z`;
const NOW = Date.parse(at(50));

test('whoever has the newest list is not behind, and others since there is a newer one', () => {
  const ages = new ListAges();
  ages.hear(7, at(10));
  expect(ages.behind(7, NOW)).toEqual({ seconds: 0, isLeast: false });
  expect(ages.behind(6, NOW)).toEqual({ seconds: 40, isLeast: false });
  ages.hear(8, at(30));
  expect([6, 7, 8].map((version) => ages.behind(version, NOW)?.seconds)).toEqual([40, 20, 0]);
});

test('of a list whose next one nobody saw made, it is said that it is so old at least', () => {
  const ages = new ListAges();
  ages.hear(7, at(10));
  expect(ages.behind(3, NOW)).toEqual({ seconds: 40, isLeast: true });
});

test('a list that is made anew all the time does not hide who stays behind', () => {
  const ages = new ListAges();
  for (let version = 1; version <= 50; version += 1) ages.hear(version, at(version));
  expect(ages.behind(2, NOW)).toEqual({ seconds: 47, isLeast: false });
});

test('nothing is said of a device that never told, or of a list that was never made', () => {
  const ages = new ListAges();
  ages.hear(null, null);
  expect(ages.behind(3, NOW)).toBeNull();
  ages.hear(7, at(10));
  expect(ages.behind(null, NOW)).toBeNull();
});
