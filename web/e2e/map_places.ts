import type { Locator } from '@playwright/test';
import { readPlan, type SeatPlan } from '../packages/seat-map/src/plan.ts';
import { MapView } from '../packages/seat-map/src/view.ts';

/** What the map on this canvas shows while nobody has moved it. */
export async function wholeHouse(
  canvas: Locator,
  config: unknown,
): Promise<{ plan: SeatPlan; view: MapView }> {
  const { width, height } = (await canvas.boundingBox())!;
  const plan = readPlan(config);
  const view = new MapView(plan.bounds, plan.pitch);
  view.resize(width, height);
  view.fit();
  return { plan, view };
}

/** Where a seat is on the canvas then. */
export async function seatPlace(canvas: Locator, config: unknown, seat: string) {
  const { plan, view } = await wholeHouse(canvas, config);
  const at = plan.seats.ids.indexOf(seat);
  return view.toScreen(plan.seats.x[at]!, plan.seats.y[at]!);
}
