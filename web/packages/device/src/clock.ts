/**
 * A device's clock, which may be wrong, and may be set while it runs.
 *
 * The server's time counts: the device's own plus an offset that the server's answers give. A clock that
 * cannot be set shows when the other one jumps. Where that one jumps back it was set, and the offset
 * changes by as much in the other direction. Where it jumps forward it was set or the device slept,
 * because in many browsers the clock that cannot be set stops meanwhile: the clock is then unsure, and
 * the offset stays until the server gives it again.
 */
import type { Moment } from '@voelgoed/rules';
import type { ClockState } from './model.ts';

/** What the two clocks may drift apart between two looks. */
const JUMP_MS_MIN = 1_000;
/** A new measurement that differs by less says more of the network than of the clock. */
const CHANGE_MS_MIN = 1_000;
/** An answer that took longer is too inexact to replace a better measurement. */
const ROUND_TRIP_MS_MAX = 2_000;
export const MICROSECONDS_PER_MS = 1_000;

/** A moment as the clock showed it, and how far it had jumped by then. */
export interface Reading {
  ms: number;
  jumped_ms: number;
}

export class DeviceClock {
  offsetMs = 0;
  /** Heard from the server at some time. */
  isKnown = false;
  /** Heard from the server since this program began. */
  isMeasured = false;
  /** Since then. */
  hasJumped = false;
  private jumpedMs = 0;
  private last: { wall: number; monotonic: number };

  constructor(
    private readonly wall: () => number,
    private readonly monotonic: () => number,
  ) {
    this.last = this.look();
  }

  get isSure(): boolean {
    return this.isMeasured && !this.hasJumped;
  }

  get state(): ClockState {
    return {
      offset_ms: this.offsetMs,
      is_known: this.isKnown,
      is_sure: this.isSure,
      last_read: this.last.wall,
    };
  }

  /**
   * Continues from the stored offset until the server gives it again, because nothing is known of the
   * clock since. A clock that is behind what it showed then was set back, by at least that much.
   */
  resume(state: ClockState): void {
    this.offsetMs = state.offset_ms;
    this.isKnown = state.is_known;
    this.isMeasured = false;
    this.last = this.look();
    if (state.last_read !== null && this.last.wall < state.last_read) {
      this.offsetMs += Math.round(state.last_read - this.last.wall);
    }
  }

  /** What another tab has learnt of the same clock. */
  adopt(state: ClockState): void {
    this.read();
    this.offsetMs = state.offset_ms;
    this.isKnown = state.is_known;
    this.isMeasured = state.is_sure;
    this.hasJumped = false;
  }

  read(): Reading {
    const now = this.look();
    const jump = now.wall - this.last.wall - (now.monotonic - this.last.monotonic);
    this.last = now;
    if (Math.abs(jump) > JUMP_MS_MIN) this.hasJumped = true;
    if (jump < -JUMP_MS_MIN) {
      this.offsetMs -= Math.round(jump);
      this.jumpedMs += Math.round(jump);
    }
    return { ms: now.wall, jumped_ms: this.jumpedMs };
  }

  /** By which this reading was off, also where the clock was set since. */
  offsetOf(reading: Reading): number {
    return this.offsetMs + this.jumpedMs - reading.jumped_ms;
  }

  corrected(reading: Reading): Moment {
    return (reading.ms + this.offsetOf(reading)) * MICROSECONDS_PER_MS;
  }

  /**
   * What the server says of it, of which half the way there is not the clock's. True where that is
   * news. An answer that took too long is believed only where nothing better is known, as far as it
   * contradicts that, and leaves the clock as unsure as it was.
   */
  learn(offsetSeconds: number, roundTripMs: number): boolean {
    const measured = Math.round(offsetSeconds * 1_000 - roundTripMs / 2);
    const change = Math.abs(measured - this.offsetMs);
    if (roundTripMs > ROUND_TRIP_MS_MAX) {
      if (this.isSure || change <= roundTripMs / 2) return false;
      this.offsetMs = measured;
      this.isKnown = true;
      return true;
    }
    if (this.isSure && change < CHANGE_MS_MIN) return false;
    this.offsetMs = measured;
    this.isKnown = true;
    this.isMeasured = true;
    this.hasJumped = false;
    return true;
  }

  private look(): { wall: number; monotonic: number } {
    return { wall: Math.floor(this.wall()), monotonic: this.monotonic() };
  }
}
