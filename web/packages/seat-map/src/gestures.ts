import type { MapView } from './view.ts';

/** A finger that moves less than this has tapped. */
const TAP_PIXELS_MAX = 8;
const WHEEL_ZOOM = 0.0016;
const WHEEL_PIXELS_PER_LINE = 16;
const KEY_ZOOM = 1.4;
const KEY_PAN_PIXELS = 60;

export interface GestureEvents {
  /** The view has changed. */
  onMove: () => void;
  onTap: (x: number, y: number, pointer: string) => void;
  onHover: (x: number, y: number) => void;
}

interface Finger {
  x: number;
  y: number;
}

/** Pointers, the wheel and keys, as changes of the view. */
export class Gestures {
  readonly #view: MapView;
  readonly #events: GestureEvents;
  readonly #fingers = new Map<number, Finger>();
  #travelled = 0;

  constructor(view: MapView, events: GestureEvents) {
    this.#view = view;
    this.#events = events;
  }

  down(id: number, x: number, y: number): void {
    if (this.#fingers.size === 0) this.#travelled = 0;
    this.#fingers.set(id, { x, y });
  }

  /** A finger that scrolls the page may not drag the paper at the same time. */
  move(id: number, x: number, y: number, canDrag = true): void {
    const finger = this.#fingers.get(id);
    if (!finger) return this.#events.onHover(x, y);
    const other = [...this.#fingers].find(([each]) => each !== id)?.[1];
    const [dx, dy] = [x - finger.x, y - finger.y];
    this.#travelled += Math.hypot(dx, dy);
    if (other) this.#pinch(finger, { x, y }, other);
    else if (canDrag && this.#travelled > TAP_PIXELS_MAX) this.#view.panBy(dx, dy);
    finger.x = x;
    finger.y = y;
    this.#events.onMove();
  }

  up(id: number, x: number, y: number, pointer: string): void {
    const wasDown = this.#fingers.delete(id);
    if (wasDown && this.#fingers.size === 0 && this.#travelled <= TAP_PIXELS_MAX) {
      this.#events.onTap(x, y, pointer);
    }
  }

  cancel(id: number): void {
    this.#fingers.delete(id);
  }

  wheel(delta: number, mode: number, x: number, y: number): void {
    const pixels = mode === 0 ? delta : delta * WHEEL_PIXELS_PER_LINE;
    this.#view.zoomAt(Math.exp(-pixels * WHEEL_ZOOM), x, y);
    this.#events.onMove();
  }

  /** Whether the key meant something. */
  key(key: string): boolean {
    if (key === '+' || key === '=') this.#view.zoomIn(KEY_ZOOM);
    else if (key === '-') this.#view.zoomIn(1 / KEY_ZOOM);
    else if (key === '0') this.#view.fit();
    else if (key === 'ArrowLeft') this.#view.panBy(KEY_PAN_PIXELS, 0);
    else if (key === 'ArrowRight') this.#view.panBy(-KEY_PAN_PIXELS, 0);
    else if (key === 'ArrowUp') this.#view.panBy(0, KEY_PAN_PIXELS);
    else if (key === 'ArrowDown') this.#view.panBy(0, -KEY_PAN_PIXELS);
    else return false;
    this.#events.onMove();
    return true;
  }

  #pinch(from: Finger, to: Finger, other: Finger): void {
    const before = Math.hypot(from.x - other.x, from.y - other.y);
    const after = Math.hypot(to.x - other.x, to.y - other.y);
    this.#view.panBy((to.x - from.x) / 2, (to.y - from.y) / 2);
    if (before > 0) this.#view.zoomAt(after / before, (to.x + other.x) / 2, (to.y + other.y) / 2);
  }
}
