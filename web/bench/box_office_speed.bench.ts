import type { Page } from '@playwright/test';
import { SeatedHouse } from '../e2e/box_office_house.ts';
import { enter } from '../e2e/box_office_pages.ts';
import { expect, test } from '../e2e/fixtures.ts';
import { stadium } from '../e2e/stadium.ts';

const CHANGES = 1_000;
/** As many as the server tells of one by one; of more it says that there were many. */
const CHANGES_TOLD_MAX = 400;
const STEPS = 60;
/** Not what is claimed: only that a busy machine gets there. */
const PATIENCE_MS = 120_000;

interface Measured {
  /** Milliseconds of script, of what the hand did and the picture that followed. */
  frames: number[];
  paintedAt: number;
}

declare global {
  interface Window {
    measured: Measured;
  }
}

/** Before the page's own scripts: how long they take, and when the house was first seen. */
function measure(): void {
  const measured: Measured = { frames: [], paintedAt: 0 };
  window.measured = measured;
  let handled = 0;
  const frame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) =>
    frame((time) => {
      const began = performance.now();
      callback(time);
      measured.frames.push(performance.now() - began + handled);
      handled = 0;
    });
  HTMLCanvasElement.prototype.addEventListener = function (
    name: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ) {
    const timed = (event: Event) => {
      const began = performance.now();
      (listener as EventListener)(event);
      handled += performance.now() - began;
    };
    EventTarget.prototype.addEventListener.call(this, name, timed, options);
  };
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (...given: unknown[]) {
    (draw as (...given: unknown[]) => void).apply(this, given);
    // The picture is on the screen when the frame after it begins.
    if (!measured.paintedAt) frame(() => frame(() => (measured.paintedAt ||= performance.now())));
  };
}

async function firstPaintMs(page: Page): Promise<number> {
  await page.waitForFunction(() => window.measured?.paintedAt > 0, undefined, {
    timeout: PATIENCE_MS,
  });
  return page.evaluate(() => {
    const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    // Seats are read once more when the page is live; the first of each is what was painted.
    const ends = ['/seats', '/config'].map(
      (path) => entries.find(({ name }) => name.endsWith(path))!.responseEnd,
    );
    return window.measured.paintedAt - Math.max(...ends);
  });
}

/** Over the whole house, and nearer by. */
async function framesMs(page: Page): Promise<number[]> {
  await page.evaluate(() => (window.measured.frames = []));
  const box = (await page.locator('canvas').boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  for (const direction of [-1, 1]) {
    await page.mouse.down();
    for (let step = 0; step < STEPS; step++) {
      await page.mouse.move(x + Math.sin(step / 8) * 150, y + Math.cos(step / 8) * 80);
    }
    await page.mouse.up();
    for (let step = 0; step < STEPS; step++) await page.mouse.wheel(0, direction * 25);
  }
  return page.evaluate(() => window.measured.frames);
}

async function scriptMs(page: Page, work: () => Promise<void>): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const spent = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return 1000 * metrics.find(({ name }) => name === 'ScriptDuration')!.value;
  };
  const before = await spent();
  await work();
  return (await spent()) - before;
}

const at = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;

for (const seats of [20_000, 50_000]) {
  test(`a house of ${seats} seats is drawn, moved and kept up to date`, async ({
    page,
    organization,
    server,
  }, info) => {
    test.setTimeout(420_000);
    const file = info.outputPath('stadium.json');
    const { config, seatIds } = await stadium(server, file, seats);
    const count = seatIds.length;
    const house = await SeatedHouse.open(organization, { name: `Stadium of ${count}`, config });
    await enter(page, house, await organization.addPerson());
    const free = (left: number) => page.getByText(`${left.toLocaleString('en-ZA')} seats free`);
    await expect(free(count)).toBeVisible({ timeout: PATIENCE_MS });
    await page.addInitScript(measure);
    await page.reload();
    await expect(page.getByText('The map is live')).toBeVisible({ timeout: PATIENCE_MS });
    const painted = await firstPaintMs(page);
    const frames = (await framesMs(page)).sort((one, other) => one - other);
    const changed = seatIds.slice(0, CHANGES);
    const applied = await scriptMs(page, async () => {
      for (let first = 0; first < CHANGES; first += CHANGES_TOLD_MAX) {
        await house.block(changed.slice(first, first + CHANGES_TOLD_MAX));
      }
      await expect(free(count - CHANGES)).toBeVisible({ timeout: PATIENCE_MS });
    });
    console.log(
      [
        `seat map, ${count} seats: first usable paint ${painted.toFixed(0)} ms after the data`,
        `${frames.length} frames of pan and zoom, script p50 ${at(frames, 0.5).toFixed(1)} ms`,
        `p95 ${at(frames, 0.95).toFixed(1)} ms, max ${at(frames, 1).toFixed(1)} ms`,
        `${CHANGES} changes of seats ${applied.toFixed(0)} ms of script`,
      ].join('; '),
    );
  });
}
