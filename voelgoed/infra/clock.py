"""The one place that reads the time, so that tests can move it."""

from datetime import UTC, datetime


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)
