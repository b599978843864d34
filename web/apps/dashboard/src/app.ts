import { createApi, LiveClient, liveUrl, type Api } from '@voelgoed/api';
import { HashRoute, LiveState, Memory, SessionState } from '@voelgoed/ui';

export const memory = new Memory(() => localStorage);
export const api: Api = createApi({ onUnauthorized: () => session.ended() });
export const session = new SessionState(api, memory);
export const live = new LiveState(new LiveClient(() => new WebSocket(liveUrl(location))));
export const route = new HashRoute(window);
