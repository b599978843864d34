import { expect, test } from 'vitest';
import { pinsOf, type MapMark } from './marks.ts';
import { MapView } from './view.ts';

function aView(): MapView {
  const view = new MapView({ x: 0, y: 0, width: 100, height: 100 }, 1);
  view.resize(400, 400);
  view.scale = 4;
  [view.left, view.top] = [0, 0];
  return view;
}

function aMark(key: string, x: number, y: number): MapMark {
  return { key, sign: key, name: key, look: 'fault', box: { x, y, width: 0, height: 0 } };
}

test('a mark is where its seat is, and one that is not seen has no pin', () => {
  const pins = pinsOf([aMark('1', 10, 20), aMark('2', 500, 0)], aView());
  expect(pins).toMatchObject([{ mark: { key: '1' }, x: 40, y: 80, hidden: 0 }]);
});

test('marks that would cover each other are one pin, which says how many it hides', () => {
  const marks = [aMark('1', 10, 10), aMark('2', 10.5, 10), aMark('3', 11, 10), aMark('4', 50, 50)];
  const pins = pinsOf(marks, aView());
  expect(pins.map(({ mark, hidden }) => [mark.key, hidden])).toEqual([
    ['1', 2],
    ['4', 0],
  ]);
});

test('the chosen one is never hidden', () => {
  const pins = pinsOf([aMark('1', 10, 10), aMark('2', 10.5, 10)], aView(), '2');
  expect(pins.map(({ mark, hidden }) => [mark.key, hidden])).toEqual([['2', 1]]);
});

test('however many there are, only so many pins are made', () => {
  const marks = Array.from({ length: 5_000 }, (_, at) => aMark(String(at), at % 100, at / 50));
  expect(pinsOf(marks, aView()).length).toBeLessThanOrEqual(120);
});
