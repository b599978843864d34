export { Device } from './client.ts';
export { Courier, type CourierOptions } from './courier.ts';
export * from './faults.ts';
export * from './model.ts';
export type { DeviceOptions } from './options.ts';
