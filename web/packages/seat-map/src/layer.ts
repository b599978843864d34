import { paintHouse, paintSeats, type Scene } from './painter.ts';
import { MapView } from './view.ts';

/** How much more than the screen is painted on each side, as a part of the screen. */
const MARGIN = 0.25;

/** The house as a picture that is moved while somebody drags, and painted anew when they stop. */
export class HouseLayer {
  readonly #canvas = document.createElement('canvas');
  readonly #context = this.#canvas.getContext('2d', { alpha: false })!;
  #view: MapView | undefined;
  #dpr = 1;

  /** A whole picture of what is seen, and of a little around it. */
  paint(scene: Scene, seen: MapView, dpr: number): void {
    const view = new MapView(seen.bounds, seen.pitch);
    view.scale = seen.scale;
    view.width = Math.ceil(seen.width * (1 + 2 * MARGIN));
    view.height = Math.ceil(seen.height * (1 + 2 * MARGIN));
    view.left = seen.left - (seen.width * MARGIN) / seen.scale;
    view.top = seen.top - (seen.height * MARGIN) / seen.scale;
    const [width, height] = [Math.round(view.width * dpr), Math.round(view.height * dpr)];
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#context.setTransform(dpr, 0, 0, dpr, 0, 0);
    paintHouse(this.#context, scene, view);
    this.#view = view;
    this.#dpr = dpr;
  }

  repaint(scene: Scene, positions: readonly number[]): void {
    if (this.#view) paintSeats(this.#context, scene, this.#view, positions);
  }

  /** Whether it is as sharp as the screen. */
  isSharpFor(seen: MapView): boolean {
    return this.#view?.scale === seen.scale;
  }

  /** Whether all of the house that is seen is in the picture. */
  covers(seen: MapView): boolean {
    if (!this.#view) return false;
    const [mine, wanted, house] = [this.#view.seen, seen.seen, seen.bounds];
    return (
      Math.max(wanted.x, house.x) >= mine.x &&
      Math.max(wanted.y, house.y) >= mine.y &&
      Math.min(wanted.x + wanted.width, house.x + house.width) <= mine.x + mine.width &&
      Math.min(wanted.y + wanted.height, house.y + house.height) <= mine.y + mine.height
    );
  }

  show(context: CanvasRenderingContext2D, seen: MapView): void {
    if (!this.#view) return;
    const at = seen.toScreen(this.#view.left, this.#view.top);
    const zoom = seen.scale / this.#view.scale;
    const { width, height } = this.#canvas;
    context.drawImage(
      this.#canvas,
      at.x,
      at.y,
      (width / this.#dpr) * zoom,
      (height / this.#dpr) * zoom,
    );
  }
}
