import { expect, test } from 'vitest';
import { MapView } from './view.ts';

function aView(): MapView {
  const view = new MapView({ x: 0, y: 0, width: 100, height: 50 }, 1);
  view.resize(824, 624);
  view.fit();
  return view;
}

test('the whole house fits, in the middle of what a name below it leaves free', () => {
  const view = aView();
  expect(view.scale).toBe(8);
  expect(view.toScreen(50, 25)).toEqual({ x: 412, y: 298 });
});

test('below the house there is room for a name, also where the house is high', () => {
  const view = new MapView({ x: 0, y: 0, width: 10, height: 100 }, 1);
  view.resize(400, 600);
  view.fit();
  expect(view.toScreen(0, 100).y).toBeCloseTo(600 - 12 - 28);
});

test('it is near when a part of the house is out of sight', () => {
  const view = aView();
  expect(view.isNear).toBe(false);
  view.zoomIn(1.5);
  expect(view.isNear).toBe(true);
  view.zoomIn(0.5);
  expect(view.isNear).toBe(false);
});

test('zooming keeps the point under the pointer', () => {
  const view = aView();
  const before = view.toPlan(300, 200);
  view.zoomAt(2, 300, 200);
  const after = view.toPlan(300, 200);
  expect(after.x).toBeCloseTo(before.x);
  expect(after.y).toBeCloseTo(before.y);
  expect(view.scale).toBe(16);
});

test('there is a nearest and a farthest', () => {
  const view = aView();
  view.zoomIn(1000);
  expect(view.scale).toBe(view.scaleMax);
  view.zoomIn(1e-6);
  expect(view.scale).toBeCloseTo(view.fitScale * 0.7);
});

test('nobody gets lost: the middle of the screen stays in the house', () => {
  const view = aView();
  view.panBy(1e6, -1e6);
  const middle = view.toPlan(view.width / 2, view.height / 2);
  expect(middle.x).toBeCloseTo(0);
  expect(middle.y).toBeCloseTo(50);
});

test('another size of the screen keeps what was in the middle', () => {
  const view = aView();
  view.zoomAt(4, 100, 100);
  const before = view.toPlan(view.width / 2, view.height / 2);
  view.resize(400, 300);
  const after = view.toPlan(200, 150);
  expect(after.x).toBeCloseTo(before.x);
  expect(after.y).toBeCloseTo(before.y);
});

test('a box can be shown', () => {
  const view = aView();
  view.show({ x: 10, y: 10, width: 10, height: 5 });
  expect(view.toPlan(view.width / 2, view.height / 2)).toEqual({ x: 15, y: 12.5 });
  expect(view.seen.width).toBeGreaterThanOrEqual(12);
});
