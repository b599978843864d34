import type { Page } from '@playwright/test';
import { feed, scanTopics, type Spoken, type Topics } from '../e2e/dashboard_feed.ts';
import { expect, openEventPage, test } from '../e2e/dashboard_fixtures.ts';

const GATES = 50;
const PER_SECOND = 200;
const SECONDS = 10;
/** What is said within it travels together. */
const TOGETHER_MS = 20;

interface Figures {
  scans: number;
  pictures: number;
  seconds: number;
  scriptSeconds: number;
  taskSeconds: number;
}

test('fifty gates at two hundred scans a second', async ({ dashboard: page, venue }) => {
  const total = page.getByRole('meter', { name: 'Inside now' });
  await feed(page, venue.eventId, { gates: GATES, inside: 0, silentSeconds: [] });
  await openEventPage(page, venue, 'live');
  await expect(total).toHaveAttribute('aria-valuenow', '0');
  const figures = await feedLive(page, await scanTopics(page, venue.eventId, GATES));
  await expect(total).toHaveAttribute('aria-valuenow', String(figures.scans));
  const percent = (part: number) => `${((part / figures.seconds) * 100).toFixed(1)} %`;
  console.log(
    `dashboard, ${GATES} gates, ${figures.scans} scans in ${figures.seconds.toFixed(1)} s: script ` +
      `${percent(figures.scriptSeconds)} of a core, all of the page's work ` +
      `${percent(figures.taskSeconds)}, ${figures.pictures} pictures`,
  );
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

/** So many scans a second for a while; what it cost the page. */
async function feedLive(page: Page, topics: Topics): Promise<Figures> {
  const metrics = await page.context().newCDPSession(page);
  await metrics.send('Performance.enable');
  const costs = async () => {
    const { metrics: found } = await metrics.send('Performance.getMetrics');
    const value = (name: string) => found.find((each) => each.name === name)?.value ?? 0;
    return {
      at: value('Timestamp'),
      script: value('ScriptDuration'),
      task: value('TaskDuration'),
    };
  };
  const before = await costs();
  const given = { topics, perSecond: PER_SECOND, seconds: SECONDS, togetherMs: TOGETHER_MS };
  const { scans, pictures } = await page.evaluate(speak, given);
  const after = await costs();
  return {
    scans,
    pictures,
    seconds: after.at - before.at,
    scriptSeconds: after.script - before.script,
    taskSeconds: after.task - before.task,
  };
}

interface Speech {
  topics: Topics;
  perSecond: number;
  seconds: number;
  togetherMs: number;
}

async function speak(given: Speech): Promise<{ scans: number; pictures: number }> {
  const { tellScan } = window as unknown as Spoken;
  const { topics, perSecond, seconds, togetherMs } = given;
  const wanted = perSecond * seconds;
  let [scans, pictures] = [0, 0];
  const meter = document.querySelector('[role="meter"]');
  const watcher = new MutationObserver(() => (pictures += 1));
  if (meter) watcher.observe(meter, { attributes: true, attributeFilter: ['aria-valuenow'] });
  const began = performance.now();
  while (scans < wanted) {
    const due = Math.min(wanted, ((performance.now() - began) / 1_000) * perSecond);
    for (; scans < due; scans += 1) tellScan(topics);
    await new Promise((resolve) => setTimeout(resolve, togetherMs));
  }
  watcher.disconnect();
  return { scans, pictures };
}
