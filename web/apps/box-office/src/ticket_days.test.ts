import { expect, test } from 'vitest';
import { daysText } from './ticket_days.ts';

test('one or two days are named, of more in a row the first and the last', () => {
  expect(daysText(['2026-12-04'], 'en-ZA')).toBe('Fri, 04 Dec 2026');
  expect(daysText(['2026-12-05', '2026-12-04'], 'en-ZA')).toBe(
    'Fri, 04 Dec 2026; Sat, 05 Dec 2026',
  );
  expect(daysText(['2026-12-04', '2026-12-05', '2026-12-06', '2026-12-13'], 'en-ZA')).toBe(
    'Fri, 04 Dec 2026 – Sun, 06 Dec 2026; Sun, 13 Dec 2026',
  );
});
