"""Keeps the embedded PostgreSQL running: killed or stopped by somebody, it is started again.

Two postmasters never share a data directory: `EmbeddedPostgres.start` launches one only while it holds
the cluster's lock, which every process of a running PostgreSQL has inherited.
"""

import threading
import time
from collections.abc import Callable

import structlog

from voelgoed.infra.embedded import EmbeddedPostgres, EmbeddedPostgresError
from voelgoed.infra.metrics import database_restarts

log = structlog.get_logger()

LOOK_EVERY_S = 0.5
PAUSES_S = (0.5, 1.0, 2.0, 5.0)
"""Before each restart, the longer the more of them there were."""
STEADY_S = 60.0
"""After so long without a restart the next one is again the first."""
ORPHANS_S = 2.0
"""How long the processes of a dead postmaster may finish what they are doing."""


class PostgresSupervisor:
    """A thread, because starting PostgreSQL blocks. It begins when PostgreSQL runs, and ends before
    PostgreSQL is stopped."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self._postgres = postgres
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="postgres-supervisor", daemon=True)
        self._state = "running"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when no restart is under way any more."""
        self.stop_restarting()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def state(self) -> str:
        """`running`, `restarting`, or `failing` when the last attempt to start it failed."""
        return self._state

    def stop_restarting(self) -> None:
        """From now on it stays away if it goes: the program is stopping."""
        self._ending.set()

    def _watch(self) -> None:
        restarts, last_restart = 0, 0.0
        while not self._ending.wait(LOOK_EVERY_S):
            if self._postgres.is_running():
                self._state = "running"
                continue
            if time.monotonic() - last_restart > STEADY_S:
                restarts = 0
            self._restart(PAUSES_S[min(restarts, len(PAUSES_S) - 1)])
            restarts, last_restart = restarts + 1, time.monotonic()

    def _restart(self, pause_s: float) -> None:
        began = time.monotonic()
        if self._state == "running":
            self._state = "restarting"
            log.error("database_gone", message="PostgreSQL is not running; it is started again.")
        # Somebody who stopped it may be starting it again.
        if self._ending.wait(pause_s) or self._postgres.is_running():
            return
        try:
            self._postgres.start(_log_step, self._is_called_off(began))
        except EmbeddedPostgresError as fault:
            self._state = "failing"
            log.error("database_not_started", reason=str(fault))
            return
        if self._ending.is_set():
            return
        self._state = "running"
        database_restarts.inc()
        log.warning("database_back", seconds=round(time.monotonic() - began, 1))

    def _is_called_off(self, began: float) -> Callable[[], bool]:
        """Asked while `start` waits for others to let go of the cluster."""

        def is_called_off() -> bool:
            if time.monotonic() - began > ORPHANS_S:
                self._postgres.end_orphans()
            return self._ending.is_set()

        return is_called_off


def _log_step(text: str) -> None:
    log.info("database_starting", message=text)
