import type { Box, Point } from './plan.ts';

/** How large two neighbours may be apart on the screen. */
const PITCH_PIXELS_MAX = 64;
/** How small the whole house may be, compared with what just fits. */
const SCALE_MIN_OF_FIT = 0.7;
const FIT_MARGIN_PIXELS = 12;
/** The name of the lowest section may stand below its seats. */
const FIT_BELOW_PIXELS = 28;
/** From so much larger than what just fits on there is something to move. */
const NEAR_OF_FIT = 1.02;

/** Which part of the plan is on the screen, in CSS pixels. */
export class MapView {
  width = 1;
  height = 1;
  scale = 1;
  /** The plan's point at the upper left corner of the screen. */
  left = 0;
  top = 0;

  constructor(
    readonly bounds: Box,
    readonly pitch: number,
  ) {}

  get fitScale(): number {
    const across = Math.max(1, this.width - 2 * FIT_MARGIN_PIXELS) / this.bounds.width;
    const high = this.height - 2 * FIT_MARGIN_PIXELS - FIT_BELOW_PIXELS;
    const down = Math.max(1, high) / this.bounds.height;
    return Math.min(across, down, this.scaleMax);
  }

  get scaleMax(): number {
    return PITCH_PIXELS_MAX / this.pitch;
  }

  /** Whether only a part of the house is seen. */
  get isNear(): boolean {
    return this.scale > this.fitScale * NEAR_OF_FIT;
  }

  /** The whole house. */
  fit(): void {
    this.scale = this.fitScale;
    const middle = this.bounds.y + this.bounds.height / 2 + FIT_BELOW_PIXELS / 2 / this.scale;
    this.#centre(this.bounds.x + this.bounds.width / 2, middle);
  }

  /** What was in the middle stays there. */
  resize(width: number, height: number): void {
    const middle = this.toPlan(this.width / 2, this.height / 2);
    this.width = width;
    this.height = height;
    this.#centre(middle.x, middle.y);
    this.#stayNear();
  }

  /** The point under the pointer stays under it. */
  zoomAt(factor: number, x: number, y: number): void {
    const point = this.toPlan(x, y);
    const least = this.fitScale * SCALE_MIN_OF_FIT;
    this.scale = Math.min(this.scaleMax, Math.max(least, this.scale * factor));
    this.left = point.x - x / this.scale;
    this.top = point.y - y / this.scale;
    this.#stayNear();
  }

  zoomIn(factor: number): void {
    this.zoomAt(factor, this.width / 2, this.height / 2);
  }

  /** By pixels, as a finger drags the paper. */
  panBy(x: number, y: number): void {
    this.left -= x / this.scale;
    this.top -= y / this.scale;
    this.#stayNear();
  }

  /** So that a box fills the screen. */
  show(box: Box): void {
    const across = this.width / (box.width + 2 * this.pitch);
    const down = this.height / (box.height + 2 * this.pitch);
    this.scale = Math.min(across, down, this.scaleMax);
    this.#centre(box.x + box.width / 2, box.y + box.height / 2);
  }

  toPlan(x: number, y: number): Point {
    return { x: this.left + x / this.scale, y: this.top + y / this.scale };
  }

  toScreen(x: number, y: number): Point {
    return { x: (x - this.left) * this.scale, y: (y - this.top) * this.scale };
  }

  /** The part of the plan that is seen. */
  get seen(): Box {
    const { left: x, top: y, scale } = this;
    return { x, y, width: this.width / scale, height: this.height / scale };
  }

  #centre(x: number, y: number): void {
    this.left = x - this.width / this.scale / 2;
    this.top = y - this.height / this.scale / 2;
  }

  /** The middle of the screen never leaves the house: nobody gets lost. */
  #stayNear(): void {
    const { bounds } = this;
    const middle = this.toPlan(this.width / 2, this.height / 2);
    const x = Math.min(bounds.x + bounds.width, Math.max(bounds.x, middle.x));
    const y = Math.min(bounds.y + bounds.height, Math.max(bounds.y, middle.y));
    if (x !== middle.x || y !== middle.y) this.#centre(x, y);
  }
}
