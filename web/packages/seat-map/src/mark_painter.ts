import type { MapMark, MarkLook } from './marks.ts';
import type { Scene } from './painter.ts';
import type { MapView } from './view.ts';

const RING_PIXELS_MIN = 14;
const HATCH_PIXELS = 12;
const FULL_CIRCLE = 2 * Math.PI;

type Context = CanvasRenderingContext2D;

/** Every mark by shape and colour: a ring, a box, a cross, a way that something has gone. */
export function paintMarks(
  context: Context,
  scene: Scene,
  view: MapView,
  marks: readonly MapMark[],
): void {
  const size = Math.max(RING_PIXELS_MIN, view.pitch * view.scale * 1.15);
  for (const mark of marks) {
    context.strokeStyle = scene.colours[mark.look];
    context.lineWidth = 3;
    if (mark.box.width > 0 || mark.box.height > 0) paintArea(context, view, mark);
    else paintPlace(context, view, mark, size);
  }
}

function paintPlace(context: Context, view: MapView, mark: MapMark, size: number): void {
  const { x, y } = view.toScreen(mark.box.x, mark.box.y);
  const half = size / 2;
  if (x < -half || y < -half || x > view.width + half || y > view.height + half) return;
  context.beginPath();
  SHAPES[mark.look](context, x, y, half);
  context.stroke();
  if (mark.from) paintWay(context, view.toScreen(mark.from.x, mark.from.y), { x, y });
}

type Shape = (context: Context, x: number, y: number, half: number) => void;

const ring: Shape = (context, x, y, half) => context.arc(x, y, half, 0, FULL_CIRCLE);

const SHAPES: Record<MarkLook, Shape> = {
  fault: ring,
  moved: ring,
  added: (context, x, y, half) => {
    ring(context, x, y, half);
    lines(context, [x - half, y, x + half, y], [x, y - half, x, y + half]);
  },
  removed: (context, x, y, half) => {
    const reach = half * 0.8;
    lines(
      context,
      [x - reach, y - reach, x + reach, y + reach],
      [x - reach, y + reach, x + reach, y - reach],
    );
  },
  changed: (context, x, y, half) => context.rect(x - half, y - half, 2 * half, 2 * half),
};

function lines(context: Context, ...each: [number, number, number, number][]): void {
  for (const [x, y, toX, toY] of each) {
    context.moveTo(x, y);
    context.lineTo(toX, toY);
  }
}

function paintWay(
  context: Context,
  from: { x: number; y: number },
  to: { x: number; y: number },
): void {
  context.setLineDash([4, 4]);
  context.beginPath();
  lines(context, [from.x, from.y, to.x, to.y]);
  context.stroke();
  context.setLineDash([]);
}

/** A zone is hatched, so that its seats are still seen. */
function paintArea(context: Context, view: MapView, { box }: MapMark): void {
  const { x, y } = view.toScreen(box.x, box.y);
  const [width, height] = [box.width * view.scale, box.height * view.scale];
  const margin = (view.pitch * view.scale) / 2;
  context.save();
  context.beginPath();
  context.rect(x - margin, y - margin, width + 2 * margin, height + 2 * margin);
  context.stroke();
  context.clip();
  context.lineWidth = 1;
  context.beginPath();
  const first = Math.max(0, x - margin) - (height + 2 * margin);
  const last = Math.min(view.width, x + width + margin);
  for (let at = first - (first % HATCH_PIXELS); at < last; at += HATCH_PIXELS) {
    lines(context, [at, y + height + margin, at + height + 2 * margin, y - margin]);
  }
  context.stroke();
  context.restore();
}
