import { ApiError } from '@voelgoed/api';
import { instantOf } from './moments.ts';
import { minorUnits } from './money.ts';

const PERCENT = /^\d{1,3}([.,]\d{1,4})?$/;
const WHOLE = /^-?\d{1,15}$/;

interface Fault {
  path: string;
  message: string;
}

/**
 * What was typed, read as what the server takes. Whether it may be is for the server to say; that it
 * is nothing, or no number, is told at once, with all such faults together, in the server's words.
 */
export class Filled {
  readonly #faults: Fault[] = [];

  text(path: string, typed: string): string {
    const text = typed.trim();
    if (text === '') this.fault(path, 'is missing');
    return text;
  }

  whole(path: string, typed: string): number {
    const text = this.text(path, typed);
    if (text !== '' && !WHOLE.test(text)) this.fault(path, 'is no whole number');
    return Number(text);
  }

  /** Nothing typed is no limit. */
  wholeOrNone(path: string, typed: string): number | null {
    return typed.trim() === '' ? null : this.whole(path, typed);
  }

  /** `12,5` is 0.125. */
  percent(path: string, typed: string): number {
    const text = this.text(path, typed);
    if (text !== '' && !PERCENT.test(text)) this.fault(path, 'is no number');
    return Number((Number(text.replace(',', '.')) / 100).toFixed(6));
  }

  moment(path: string, typed: string, timeZone: string): string {
    const instant = instantOf(this.text(path, typed), timeZone);
    if (typed.trim() !== '' && !instant.endsWith('Z')) this.fault(path, instant);
    return instant;
  }

  momentOrNone(path: string, typed: string, timeZone: string): string | null {
    return typed.trim() === '' ? null : this.moment(path, typed, timeZone);
  }

  amount(path: string, typed: string, currency: string): number {
    const minor = minorUnits(this.text(path, typed), currency);
    if (typed.trim() !== '' && minor === undefined) this.fault(path, 'is no amount');
    return minor ?? 0;
  }

  fault(path: string, message: string): void {
    this.#faults.push({ path, message });
  }

  /** Nothing is sent that cannot be read. */
  refuseFaults(): void {
    if (this.#faults.length === 0) return;
    throw new ApiError('invalid_request', 'There are faults.', { faults: this.#faults }, 422);
  }
}

/** Of a body, what somebody changed: the rest may have been changed by others. */
export function only<Body extends object>(body: Body, changed: ReadonlySet<string>): Partial<Body> {
  const kept = Object.entries(body).filter(([name]) => changed.has(name));
  return Object.fromEntries(kept) as Partial<Body>;
}
