export { answer, createApi, type Api } from './client.ts';
export { coalesced } from './coalesce.ts';
export { ApiError } from './error.ts';
export { readEvents } from './events.ts';
export { LiveClient, liveUrl, type LiveListener, type LiveSocket, type LiveState } from './live.ts';
export { everyPage, type Page } from './pages.ts';
export type { Event, Gate, Session, User, Venue } from './types.ts';
export { readVenues } from './venues.ts';
