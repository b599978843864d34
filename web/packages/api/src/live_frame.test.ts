import { expect, test } from 'vitest';
import { parseFrame } from './live_frame.ts';

test('understands the four kinds of frames', () => {
  const frames = [
    { type: 'subscribed', topic: 't', seq: 4 },
    { type: 'resync', topic: 't', seq: 9 },
    { type: 'message', topic: 't', seq: 5, data: { event: 'gate_changed' } },
    { type: 'refused', topic: 't', error: 'not_found', message: 'No such topic.' },
  ];
  for (const frame of frames) expect(parseFrame(JSON.stringify(frame))).toEqual(frame);
});

test.each([
  ['no JSON', '{'],
  ['a list', '[]'],
  ['nothing', 'null'],
  ['a binary frame', new ArrayBuffer(2)],
  ['a number that is none', '{"type":"message","topic":"t","seq":"5","data":{}}'],
  ['a message without data', '{"type":"message","topic":"t","seq":5}'],
  ['a mere sign of life', '{"type":"alive"}'],
  ['a kind of tomorrow', '{"type":"praise","topic":"t","seq":5}'],
])('ignores %s', (_name, text) => {
  expect(parseFrame(text)).toBeUndefined();
});
