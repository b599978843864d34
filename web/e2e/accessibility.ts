import { expect, type Page } from '@playwright/test';
import axe from 'axe-core';

/** The page, in light and in dark, breaks no rule that axe knows. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(settle);
    // To load it takes longer than to run it: once for each document.
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
    const found = await page.evaluate(async () => {
      const { violations } = await (window as unknown as { axe: typeof axe }).axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join()}`);
    });
    expect(found, `axe in ${colorScheme}`).toEqual([]);
  }
}

/** On the way from light to dark a button may have the ink of one and the paper of the other. */
async function settle(): Promise<void> {
  await new Promise(requestAnimationFrame);
  const changing = document.getAnimations().filter((each) => each instanceof CSSTransition);
  await Promise.allSettled(changing.map(({ finished }) => finished));
}

/** No part of the page is out of reach to the right on a small phone. */
export async function expectFitsPhone(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  if (!before) return;
  await page.setViewportSize(before);
  await expect.poll(() => page.evaluate(() => window.innerWidth)).toBe(before.width);
}
