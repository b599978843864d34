"""Remembers which devices made a request, and writes it down every few seconds: a scan pays for no write
of its own, and a device that only scans is not taken for silent."""

import asyncio
import contextlib
from datetime import datetime
from uuid import UUID

import structlog

from voelgoed.infra.database import Database
from voelgoed.infra.refusal import Unavailable
from voelgoed.scanning.actions.own_device import DeviceCaller
from voelgoed.scanning.store.devices import SignOfLife, note_seen

log = structlog.get_logger()

WRITE_EVERY_S = 5.0
REMEMBERED_MAX = 20_000
"""Devices. One more than these is remembered with a request that it makes later."""
DRAIN_S = 1.0


class SignsOfLife:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: dict[tuple[UUID, UUID, int], datetime] = {}
        """Signs by organisation, device and version of its key: a request with a copied old key is
        no sign of the device, and the device's row says which version is the present one."""
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._is_stopping = False

    def note(self, proven: DeviceCaller) -> None:
        """Called for every request that came with a genuine key; returns at once."""
        device_id = proven.caller.id
        assert device_id is not None
        key = (proven.caller.organization_id, device_id, proven.key_version)
        if self._is_stopping or (key not in self._seen and len(self._seen) >= REMEMBERED_MAX):
            return
        self._seen[key] = self._database.clock.now()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="signs-of-life")

    async def is_idle(self) -> None:
        """Returns when all that was noted is written, which begins at once."""
        while self._task is not None:
            self._hurry.set()
            await asyncio.wait({self._task})

    async def stop(self) -> None:
        """Noted signs are still written, if PostgreSQL answers."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.is_idle(), DRAIN_S)
        self._is_stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        """Ends when there is nothing to write, until there is something again."""
        try:
            while self._seen:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._hurry.wait(), WRITE_EVERY_S)
                self._hurry.clear()
                await self._write()
        finally:
            self._task = None
            self._hurry.clear()

    async def _write(self) -> None:
        """One statement for each organisation. What cannot be written is forgotten: a device that is
        alive makes another request."""
        seen, self._seen = self._seen, {}
        signs: dict[UUID, list[SignOfLife]] = {}
        for (organization_id, device_id, key_version), at in seen.items():
            sign = SignOfLife(device_id=device_id, key_version=key_version, seen_at=at)
            signs.setdefault(organization_id, []).append(sign)
        for organization_id, of_organization in signs.items():
            try:
                async with self._database.transaction(organization_id, durable=False) as tx:
                    await note_seen(tx, of_organization)
            except Unavailable:
                log.warning("signs_of_life_not_written", organization_id=str(organization_id))
            except Exception:
                log.exception("signs_of_life_failed", organization_id=str(organization_id))
