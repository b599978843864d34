"""A device's clock, which may be wrong, and may be set while it runs.

What counts is the server's time: the device's own and an offset that the server's answers tell. A clock
that cannot be set (`monotonic`), and that goes on while the device sleeps, shows when the other one
jumps; by how much it jumped, the offset changes the other way, until the server tells it anew.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from voelgoed.device.model import ClockState

JUMP_S_MIN = 1.0
"""The difference that the two clocks may drift apart between two readings."""
CHANGE_S_MIN = 1.0
"""A new measurement that differs by less says more of the network than of the clock."""
ROUND_TRIP_S_MAX = 2.0
"""An answer that took longer tells the time too badly to be believed against a better one."""


def _wall() -> datetime:
    return datetime.now(UTC)


def since_boot() -> float:
    """Goes on while the device sleeps, where the system has such a clock."""
    clock_id: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock_id is None else time.clock_gettime(clock_id)


class DeviceClock:
    def __init__(
        self,
        wall: Callable[[], datetime] = _wall,
        monotonic: Callable[[], float] = since_boot,
    ) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self.offset = timedelta()
        self.is_measured = False
        """Heard from the server since this program began."""
        self.has_jumped = False
        """Since then: by how much is known, and yet it is better heard."""
        self._last = wall(), monotonic()

    @property
    def is_sure(self) -> bool:
        return self.is_measured and not self.has_jumped

    def resume(self, state: ClockState) -> None:
        """Go on from what was kept, until the server tells it anew: nobody saw what was done to the
        clock meanwhile. One that is behind what it showed then was set back, by that at least."""
        self.offset = timedelta(seconds=state.offset_seconds)
        self.is_measured = False
        self._last = self._wall(), self._monotonic()
        if state.last_read is not None and self._last[0] < state.last_read:
            self.offset -= self._last[0] - state.last_read

    @property
    def state(self) -> ClockState:
        return ClockState(
            offset_seconds=self.offset.total_seconds(),
            is_measured=self.is_sure,
            last_read=self._last[0],
        )

    def read(self) -> datetime:
        wall, monotonic = self._wall(), self._monotonic()
        passed = timedelta(seconds=monotonic - self._last[1])
        jump = wall - self._last[0] - passed
        self._last = wall, monotonic
        if abs(jump.total_seconds()) > JUMP_S_MIN:
            self.offset -= jump
            self.has_jumped = True
        return wall

    def corrected(self, at: datetime) -> datetime:
        return at + self.offset

    def learn(self, offset_seconds: float, round_trip_s: float = 0.0) -> bool:
        """What the server says of it, of which half the way there is not the clock's. True where that
        is news. An answer that took too long is believed only where nothing better is known, as far as
        it contradicts that, and leaves the clock as unsure as it was."""
        measured = timedelta(seconds=round(offset_seconds - round_trip_s / 2, 3))
        change = abs((measured - self.offset).total_seconds())
        if round_trip_s > ROUND_TRIP_S_MAX:
            if self.is_sure or change <= round_trip_s / 2:
                return False
            self.offset = measured
            return True
        if self.is_sure and change < CHANGE_S_MIN:
            return False
        self.offset, self.is_measured, self.has_jumped = measured, True, False
        return True
