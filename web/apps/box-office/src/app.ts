import { createApi, type Api } from '@voelgoed/api';
import { Memory, SessionState } from '@voelgoed/ui';

export const memory = new Memory(() => localStorage);
export const api: Api = createApi({ onUnauthorized: () => session.ended() });
export const session = new SessionState(api, memory);
