export type ToWorker = 'activate';
export type FromWorker = 'sync';

/** Background Sync: the browser says when the network is back, where it can. */
export const SYNC_TAG = 'voelgoed-sync';
