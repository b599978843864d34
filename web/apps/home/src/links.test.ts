import { expect, test } from 'vitest';
import { appLink } from './links.ts';

test('leads to the app', () => {
  expect(appLink('dashboard', '')).toBe('/dashboard/');
  expect(appLink('dashboard', '?org=&theme=dark')).toBe('/dashboard/');
});

test('takes the organisation along, and nothing else', () => {
  expect(appLink('box-office', '?org=die-skuur&theme=dark')).toBe('/box-office/?org=die-skuur');
  expect(appLink('scanner', '?org=a%26b=c')).toBe('/scanner/?org=a%26b%3Dc');
});
