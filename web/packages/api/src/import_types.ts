import type { components } from './schema.d.ts';

export type ImportFault = components['schemas']['ImportFault'];
export type TicketImport = components['schemas']['TicketImport'];
