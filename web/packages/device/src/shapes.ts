/** What comes from a disk or over a network is believed once it has its shape. */
import { readMoment } from '@voelgoed/rules';

type Check = (value: unknown) => boolean;
type Checks<T> = { [Name in keyof Required<T>]: Check };
export type Reader<T> = (value: unknown) => T | null;

/** A record with at least these fields, each of its kind; else null. */
export function shaped<T>(checks: Checks<T>): Reader<T> {
  const named = Object.entries<Check>(checks);
  return (value) =>
    isRecord(value) && named.every(([name, check]) => check(value[name])) ? (value as T) : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isNumber: Check = (value) => Number.isFinite(value);
export const isFlag: Check = (value) => typeof value === 'boolean';
export const isMoment: Check = (value) => isText(value) && readMoment(value) !== null;
export const isBytes: Check = (value) => value instanceof Uint8Array;
export const among =
  (...allowed: readonly string[]): Check =>
  (value) =>
    isText(value) && allowed.includes(value);
export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
/** May be missing in JSON. */
export const orNothing =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
export const fits =
  <T>(reader: Reader<T>): Check =>
  (value) =>
    reader(value) !== null;
