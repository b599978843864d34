import { ApiError } from '@voelgoed/api';
import { expect, test } from 'vitest';
import { Listing } from './listing.svelte.ts';

const PAGES: Record<string, { data: number[]; next: string | null }> = {
  first: { data: [1, 2], next: 'second' },
  second: { data: [3, 4], next: null },
};

function aListing(read = async (after = 'first') => PAGES[after]!): Listing<number> {
  return new Listing(read);
}

test('shows a page, and the next one when asked', async () => {
  const listing = aListing();
  await listing.load();
  expect([listing.items, listing.hasMore]).toEqual([[1, 2], true]);
  await listing.more();
  expect([listing.items, listing.hasMore]).toEqual([[1, 2, 3, 4], false]);
});

test('read again it is as long as it was, anew it is short', async () => {
  const listing = aListing();
  await listing.more();
  await listing.load();
  expect(listing.items).toHaveLength(4);
  await listing.anew();
  expect(listing.items).toHaveLength(2);
});

test('what was read stays when a later reading fails', async () => {
  let isDown = false;
  const listing = aListing(async (after = 'first') => {
    if (isDown) throw ApiError.network();
    return PAGES[after]!;
  });
  await listing.load();
  isDown = true;
  await listing.load();
  expect([listing.items, listing.status]).toEqual([[1, 2], 'ready']);
  expect(listing.problem?.code).toBe('network');
});

test('a list that could never be read has failed', async () => {
  const listing = aListing(async () => Promise.reject(ApiError.network()));
  await listing.load();
  expect(listing.status).toBe('failed');
});
