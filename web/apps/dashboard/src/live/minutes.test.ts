import { expect, test } from 'vitest';
import { MINUTE_MS, Minutes, MINUTES_SHOWN, type SeenScan } from './minutes.ts';

const NOW = 10_000 * MINUTE_MS + 20_000;

let made = 0;
function aScan(minutesAgo: number, scan: Partial<SeenScan> = {}): SeenScan {
  made += 1;
  const atMs = NOW - minutesAgo * MINUTE_MS;
  return { key: `scan ${made}`, atMs, gateId: 'north', direction: 'entry', reason: null, ...scan };
}

const entries = (minutes: Minutes) => minutes.series(NOW).map((minute) => minute.entries);

test('counts who came and who went, minute by minute, up to now', () => {
  const minutes = new Minutes();
  for (const ago of [0, 0, 2]) minutes.hear(aScan(ago));
  minutes.hear(aScan(1, { direction: 'exit' }));
  const series = minutes.series(NOW);
  expect(series).toHaveLength(MINUTES_SHOWN);
  expect(series.slice(-3).map(({ entries, exits }) => [entries, exits])).toEqual([
    [1, 0],
    [0, 1],
    [2, 0],
  ]);
});

test('a scan that is both read and heard of counts once', () => {
  const minutes = new Minutes();
  const [before, during, after] = [aScan(0), aScan(0), aScan(0)];
  minutes.beginReading();
  minutes.hear(during);
  minutes.finishReading([before, after], true);
  minutes.hear(after);
  expect(entries(minutes).at(-1)).toBe(3);
});

test('a reading replaces what was counted before it, gaps and all', () => {
  const minutes = new Minutes();
  minutes.hear(aScan(0));
  minutes.beginReading();
  minutes.finishReading([aScan(0), aScan(0)], true);
  expect(entries(minutes).at(-1)).toBe(2);
});

test('a reading that failed loses nothing', () => {
  const minutes = new Minutes();
  minutes.beginReading();
  minutes.hear(aScan(0));
  minutes.giveUpReading();
  expect(entries(minutes).at(-1)).toBe(1);
});

test('where not everything could be read, the series begins with the first whole minute', () => {
  const minutes = new Minutes();
  minutes.beginReading();
  minutes.finishReading([aScan(0), aScan(1), aScan(3)], false);
  expect(entries(minutes)).toEqual([0, 1, 1]);
});

test('tells why people were turned away in the last minutes, most frequent first', () => {
  const minutes = new Minutes();
  minutes.hear(aScan(1, { reason: 'wrong_gate' }));
  minutes.hear(aScan(0, { reason: 'already_scanned' }));
  minutes.hear(aScan(2, { reason: 'already_scanned' }));
  minutes.hear(aScan(30, { reason: 'gate_closed' }));
  expect(minutes.denied(NOW, 5)).toEqual([
    ['already_scanned', 2],
    ['wrong_gate', 1],
  ]);
  expect(entries(minutes).at(-1)).toBe(0);
});

test('forgets what is older than the chart', () => {
  const minutes = new Minutes();
  minutes.hear(aScan(500, { reason: 'wrong_gate' }));
  minutes.hear(aScan(0));
  expect(minutes.denied(NOW, 1_000)).toEqual([]);
});

test('a gate does what it did in the last sixty seconds, and can do what it once did', () => {
  const minutes = new Minutes();
  for (let count = 0; count < 30; count += 1) minutes.hear(aScan(10));
  for (let count = 0; count < 12; count += 1) minutes.hear(aScan(1));
  minutes.hear(aScan(0, { reason: 'wrong_gate' }));
  minutes.hear(aScan(0, { direction: 'exit' }));
  minutes.hear(aScan(0, { gateId: 'south' }));
  // Twelve a minute ago to the second are over; one was turned away just now.
  expect(minutes.paces(['north', 'south', 'east'], NOW)).toEqual(
    new Map([
      ['north', { perMinute: 1, turnedAway: 1, best: 30 }],
      ['south', { perMinute: 1, turnedAway: 0, best: 1 }],
      ['east', { perMinute: 0, turnedAway: 0, best: 0 }],
    ]),
  );
});

test('the last sixty seconds do not begin anew with each minute of the clock', () => {
  const minutes = new Minutes();
  const full = 10_000 * MINUTE_MS;
  for (let second = 0; second < 60; second += 1) {
    minutes.hear(aScan(0, { atMs: full + second * 1_000 }));
    minutes.hear(aScan(0, { atMs: full + second * 1_000, direction: 'exit' }));
  }
  const next = full + MINUTE_MS;
  expect(minutes.series(next).at(-1)?.entries).toBe(0);
  expect(minutes.lately(next - 1)).toEqual({ entries: 60, exits: 60 });
  expect(minutes.lately(next)).toEqual({ entries: 59, exits: 59 });
  expect(minutes.lately(next + 45_000)).toEqual({ entries: 14, exits: 14 });
});

test('the gates and the whole event never contradict each other', () => {
  const minutes = new Minutes();
  for (let at = 0; at < 100; at += 1) {
    const gateId = at % 3 === 0 ? 'north' : 'south';
    const reason = at % 7 === 0 ? 'wrong_gate' : null;
    minutes.hear(aScan(0, { atMs: NOW - at * 1_000, gateId, reason }));
  }
  for (let later = 0; later <= 60; later += 7) {
    const now = NOW + later * 1_000;
    const gates = [...minutes.paces(['north', 'south'], now).values()];
    const letIn = gates.reduce((sum, { perMinute, turnedAway }) => sum + perMinute - turnedAway, 0);
    expect(letIn).toBe(minutes.lately(now).entries);
  }
});

test('a reading replaces the last sixty seconds as well', () => {
  const minutes = new Minutes();
  minutes.hear(aScan(0));
  minutes.beginReading();
  minutes.finishReading([aScan(0), aScan(0)], true);
  expect(minutes.lately(NOW).entries).toBe(2);
});
