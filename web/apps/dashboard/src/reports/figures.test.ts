import { expect, test } from 'vitest';
import { LANGUAGES } from '../messages/index.ts';
import { barShapes, gathered, moneyText, percentText } from './figures.ts';

test('money is written as it is where the words are spoken', () => {
  expect(moneyText(LANGUAGES.en, 32_000, 'ZAR').replace(/\s/g, ' ')).toBe('R 320,00');
  expect(moneyText(LANGUAGES.en, 320, 'JPY')).toContain('320');
  expect(moneyText(LANGUAGES.en, 0, null)).toBe('–');
  expect(percentText(LANGUAGES.en, null)).toBe('–');
});

test('few bars stay as they are', () => {
  const bars = [0, 60, 180].map((at) => ({ at, values: [at] }));
  expect(gathered(bars, 60)).toEqual({ bars, step: 60 });
  expect(gathered([], 60)).toEqual({ bars: [], step: 60 });
});

test('of many bars neighbours are added up, and nothing is lost', () => {
  const bars = Array.from({ length: 1_000 }, (_, at) => ({ at: at * 60, values: [1, at] }));
  const few = gathered(bars, 60);
  expect(few.bars.length).toBeLessThanOrEqual(240);
  const sum = (index: number) => few.bars.reduce((all, { values }) => all + values[index]!, 0);
  expect([sum(0), sum(1)]).toEqual([1_000, (1_000 * 999) / 2]);
});

test('bars stand where they belong, and no higher than the peak', () => {
  const bars = [
    { at: 0, values: [10, 5] },
    { at: 30, values: [0, 0] },
  ];
  const shapes = barShapes(bars, 10, 10, { width: 400, height: 100 });
  expect(shapes[0]?.[0]).toMatchObject({ x: 0, y: 0, height: 100 });
  expect(shapes[0]?.[1]).toMatchObject({ y: 50, height: 50 });
  expect(shapes[1]?.[0]).toMatchObject({ x: 300, height: 0 });
});
