import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

export type Session = Schemas['CurrentSession'];
export type Event = Schemas['Event'];
export type Gate = Schemas['Gate'];
export type Venue = Schemas['Venue'];
