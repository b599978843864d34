import { expect, test } from 'vitest';
import { browserName } from './browser_name.ts';

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64)';
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  [`${LINUX} ${WEBKIT} HeadlessChrome/139.0.0.0 Safari/537.36`, 'Chrome, Linux'],
  [`${WINDOWS} ${WEBKIT} Chrome/139.0.0.0 Safari/537.36 Edg/139.0.0.0`, 'Edge, Windows'],
  ['Mozilla/5.0 (Windows NT 10.0; rv:141.0) Gecko/20100101 Firefox/141.0', 'Firefox, Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    'Safari, iPhone',
  ],
  [`Mozilla/5.0 (Linux; Android 15; K) ${WEBKIT} Chrome/139.0.0.0 Mobile`, 'Chrome, Android'],
  ['python-httpx/0.28.1', 'python-httpx'],
])('%s is called %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});

test('who says nothing of themselves has no name', () => {
  expect(browserName('')).toBeUndefined();
  expect(browserName(null)).toBeUndefined();
});
