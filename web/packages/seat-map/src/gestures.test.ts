import { expect, test, vi } from 'vitest';
import { Gestures } from './gestures.ts';
import { MapView } from './view.ts';

function aMap() {
  const view = new MapView({ x: 0, y: 0, width: 100, height: 100 }, 1);
  view.resize(500, 500);
  view.fit();
  const events = { onMove: vi.fn(), onTap: vi.fn(), onHover: vi.fn() };
  return { view, events, gestures: new Gestures(view, events) };
}

test('a tap is a tap, even of a hand that trembles', () => {
  const { view, events, gestures } = aMap();
  const before = view.left;
  gestures.down(1, 100, 100);
  gestures.move(1, 103, 102);
  gestures.up(1, 103, 102, 'touch');
  expect(events.onTap).toHaveBeenCalledWith(103, 102, 'touch');
  expect(view.left).toBe(before);
});

test('dragging moves the house with the finger and chooses nothing', () => {
  const { view, events, gestures } = aMap();
  const before = view.toScreen(50, 50);
  gestures.down(1, 100, 100);
  gestures.move(1, 140, 100);
  gestures.up(1, 140, 100, 'mouse');
  expect(view.toScreen(50, 50).x).toBeCloseTo(before.x + 40);
  expect(events.onTap).not.toHaveBeenCalled();
});

test('two fingers that part zoom in between them', () => {
  const { view, events, gestures } = aMap();
  const before = view.scale;
  gestures.down(1, 200, 250);
  gestures.down(2, 300, 250);
  gestures.move(1, 150, 250);
  gestures.move(2, 350, 250);
  expect(view.scale).toBeCloseTo(before * 2);
  gestures.up(1, 150, 250, 'touch');
  gestures.up(2, 350, 250, 'touch');
  expect(events.onTap).not.toHaveBeenCalled();
});

test('the wheel zooms where the pointer is, in pixels or in lines', () => {
  const { view, gestures } = aMap();
  const before = view.scale;
  gestures.wheel(-100, 0, 250, 250);
  expect(view.scale).toBeGreaterThan(before);
  gestures.wheel(100 / 16, 1, 250, 250);
  expect(view.scale).toBeCloseTo(before);
});

test('keys zoom, move and show the whole; others are not ours', () => {
  const { view, gestures } = aMap();
  const fit = view.scale;
  expect(gestures.key('+')).toBe(true);
  expect(view.scale).toBeGreaterThan(fit);
  const left = view.left;
  expect(gestures.key('ArrowRight')).toBe(true);
  expect(view.left).toBeGreaterThan(left);
  expect(gestures.key('0')).toBe(true);
  expect(view.scale).toBe(fit);
  expect(gestures.key('Tab')).toBe(false);
});

test('a pointer that is not down only points', () => {
  const { events, gestures } = aMap();
  gestures.move(1, 10, 20);
  expect(events.onHover).toHaveBeenCalledWith(10, 20);
  gestures.down(1, 10, 20);
  gestures.cancel(1);
  gestures.up(1, 10, 20, 'touch');
  expect(events.onTap).not.toHaveBeenCalled();
});

test('a finger that scrolls the page leaves the house where it is, and chooses nothing', () => {
  const { view, events, gestures } = aMap();
  const before = view.toScreen(50, 50);
  gestures.down(1, 100, 100);
  gestures.move(1, 100, 160, false);
  gestures.up(1, 100, 160, 'touch');
  expect(view.toScreen(50, 50)).toEqual(before);
  expect(events.onTap).not.toHaveBeenCalled();
});

test('two fingers pinch where one would scroll', () => {
  const { view, gestures } = aMap();
  const before = view.scale;
  gestures.down(1, 200, 250);
  gestures.down(2, 300, 250);
  gestures.move(2, 400, 250, false);
  expect(view.scale).toBeCloseTo(before * 2);
});
