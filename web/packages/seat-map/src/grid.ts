import type { Box, SeatPlan } from './plan.ts';

const CELL_PITCHES = 2;
const CELLS_MAX = 250_000;

/** Which seat is where: cells of a few seats each, so that a click looks at a handful. */
export class SeatGrid {
  readonly #plan: SeatPlan;
  readonly #cell: number;
  readonly #columns: number;
  readonly #rows: number;
  /** Where each cell's seats begin in `#positions`; one more at the end. */
  readonly #starts: Uint32Array;
  readonly #positions: Uint32Array;

  constructor(plan: SeatPlan) {
    this.#plan = plan;
    const { width, height } = plan.bounds;
    const least = Math.sqrt((width * height) / CELLS_MAX);
    this.#cell = Math.max(plan.pitch * CELL_PITCHES, least);
    this.#columns = Math.max(1, Math.ceil(width / this.#cell));
    this.#rows = Math.max(1, Math.ceil(height / this.#cell));
    const { x, y } = plan.seats;
    const cells = Uint32Array.from(x, (at, position) => this.#cellOf(at, y[position]!));
    this.#starts = new Uint32Array(this.#columns * this.#rows + 1);
    for (const cell of cells) this.#starts[cell + 1]! += 1;
    for (let cell = 1; cell < this.#starts.length; cell++) {
      this.#starts[cell]! += this.#starts[cell - 1]!;
    }
    this.#positions = new Uint32Array(x.length);
    const next = this.#starts.slice();
    cells.forEach((cell, position) => (this.#positions[next[cell]!++] = position));
  }

  /** The seat nearest to a point of the plan, if one is that near. */
  nearest(x: number, y: number, radius: number): number | undefined {
    let found: number | undefined;
    let least = radius * radius;
    const { x: xs, y: ys } = this.#plan.seats;
    const around = { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
    this.within(around, (position) => {
      const distance = (xs[position]! - x) ** 2 + (ys[position]! - y) ** 2;
      if (distance > least) return;
      least = distance;
      found = position;
    });
    return found;
  }

  /** Every seat in the cells that touch a box. */
  within(box: Box, visit: (position: number) => void): void {
    const last = this.#place(box.x + box.width, box.y + box.height);
    const first = this.#place(box.x, box.y);
    for (let row = first.row; row <= last.row; row++) {
      const begin = this.#starts[row * this.#columns + first.column]!;
      const end = this.#starts[row * this.#columns + last.column + 1]!;
      for (let at = begin; at < end; at++) visit(this.#positions[at]!);
    }
  }

  /** Every seat whose middle is in a box. */
  inside(box: Box): number[] {
    const found: number[] = [];
    const { x, y } = this.#plan.seats;
    this.within(box, (position) => {
      const [across, down] = [x[position]! - box.x, y[position]! - box.y];
      if (across >= 0 && down >= 0 && across <= box.width && down <= box.height) {
        found.push(position);
      }
    });
    return found;
  }

  #cellOf(x: number, y: number): number {
    const { row, column } = this.#place(x, y);
    return row * this.#columns + column;
  }

  #place(x: number, y: number): { row: number; column: number } {
    const column = Math.floor((x - this.#plan.bounds.x) / this.#cell);
    const row = Math.floor((y - this.#plan.bounds.y) / this.#cell);
    return {
      column: Math.min(this.#columns - 1, Math.max(0, column)),
      row: Math.min(this.#rows - 1, Math.max(0, row)),
    };
  }
}
