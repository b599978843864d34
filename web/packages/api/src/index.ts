export { answer, createApi, type Api } from './client.ts';
export { coalesced } from './coalesce.ts';
export { ApiError } from './error.ts';
export { readEvents } from './events.ts';
export { LiveClient, liveUrl, type LiveState } from './live.ts';
export type { Event, Gate, Session, Venue } from './types.ts';
export { readVenues } from './venues.ts';
