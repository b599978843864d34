import { createApi, LiveClient, liveUrl, type Api } from '@voelgoed/api';
import { HashRoute, LiveState, Memory, SessionState, Speech } from '@voelgoed/ui';
import { LANGUAGES } from './messages/index.ts';

export const memory = new Memory(() => localStorage);
export const speech = new Speech(memory, navigator.languages, LANGUAGES);
export const api: Api = createApi({ onUnauthorized: () => session.ended() });
export const session = new SessionState(api, memory);
export const live = new LiveState(new LiveClient(() => new WebSocket(liveUrl(location))));
export const route = new HashRoute(window);
