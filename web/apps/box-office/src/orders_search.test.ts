import { expect, test } from 'vitest';
import { keepSearch, keptSearch } from './orders_search.ts';

test('what was looked for is found again, and a page nobody searched on has nothing', () => {
  const history = {
    state: null as unknown,
    replaceState: (state: unknown) => void (history.state = state),
  };
  expect(keptSearch(history)).toEqual({ number: '', email: '' });
  keepSearch(history, { number: 'VG-1', email: '' });
  expect(keptSearch(history)).toEqual({ number: 'VG-1', email: '' });
});
