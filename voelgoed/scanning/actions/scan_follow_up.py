"""What follows from scans after they were answered: nobody at a gate waits for it."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

import msgspec
import structlog

from voelgoed.infra.database import Database, Message
from voelgoed.infra.live import Live
from voelgoed.infra.refusal import Unavailable
from voelgoed.scanning.actions.figures import count_scans
from voelgoed.scanning.actions.history_commit import reconcile_ticket
from voelgoed.scanning.actions.last_scans import LastScans
from voelgoed.scanning.actions.watch import FraudWatch
from voelgoed.scanning.model.admission import AdmissionPlan, ScanDecision
from voelgoed.scanning.model.scans import Scan, SeatInfo
from voelgoed.scanning.rules.messages import counted, denied, gate_topic, passed
from voelgoed.scanning.store.occupancy import read_gate_levels
from voelgoed.seating.rules.messages import occupancy_topic

log = structlog.get_logger()

LEVELS_S = 0.5
"""The least time between two messages with the levels of all gates of an organisation's events."""
DRAIN_S = 1.0
EventDayId = tuple[UUID, date | None]


class CommittedBatch(NamedTuple):
    """Scans that were written together."""

    plan: AdmissionPlan
    decisions: Sequence[ScanDecision]
    seats: Sequence[SeatInfo | None]
    """The seats of the decisions' tickets, one for each."""
    begun: float
    """The moment at which the facts of its decision were read."""


class ScanFollowUp:
    def __init__(
        self, database: Database, live: Live, last_scans: LastScans, watch: FraudWatch
    ) -> None:
        self._database = database
        self._live = live
        self._last_scans = last_scans
        self._watch = watch
        self._levels_due: dict[UUID, float] = {}
        """The moment from which levels may be published again, by organisation."""
        self._waiting: dict[UUID, deque[CommittedBatch]] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        """One for each organisation, so that its messages keep their order."""
        self._reconciling: set[asyncio.Task[None]] = set()

    def add(self, organization_id: UUID, batch: CommittedBatch) -> None:
        self._waiting.setdefault(organization_id, deque()).append(batch)

    def begin(self, organization_id: UUID) -> None:
        """Called when the scans that were added have their answers."""
        if organization_id in self._waiting and organization_id not in self._tasks:
            task = asyncio.create_task(self._follow(organization_id), name="scan-follow-up")
            self._tasks[organization_id] = task

    async def is_idle(self) -> None:
        """Returns when all has been done that follows from scans that were answered."""
        while working := {*self._tasks.values(), *self._reconciling}:
            await asyncio.wait(working)

    async def stop(self) -> None:
        """Scans that were answered are still published, if it does not take long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.is_idle(), DRAIN_S)

    async def _follow(self, organization_id: UUID) -> None:
        try:
            while batches := self._waiting.pop(organization_id, None):
                for batch in batches:
                    self._reconcile(organization_id, batch.plan.contested)
                    await self._run(organization_id, batch)
        finally:
            del self._tasks[organization_id]

    def _reconcile(self, organization_id: UUID, contested: Mapping[UUID, Collection[UUID]]) -> None:
        """Somebody passed while people were inside with the ticket who had no right to: its history says
        whether that is a conflict. Nobody's message waits for it."""
        if contested:
            work = self._reconcile_each(organization_id, contested)
            task = asyncio.create_task(work, name="scan-follow-up")
            self._reconciling.add(task)
            task.add_done_callback(self._reconciling.discard)

    async def _reconcile_each(
        self, organization_id: UUID, contested: Mapping[UUID, Collection[UUID]]
    ) -> None:
        """What is not found now is found when the next scan of the ticket becomes known."""
        for ticket_id, scan_ids in contested.items():
            try:
                await reconcile_ticket(self._database, organization_id, ticket_id, scan_ids)
            except Unavailable as refusal:
                log.warning("ticket_not_reconciled", ticket_id=str(ticket_id), error=refusal.code)
            except Exception:
                log.exception("ticket_not_reconciled", ticket_id=str(ticket_id))

    async def _run(self, organization_id: UUID, batch: CommittedBatch) -> None:
        """What goes wrong with one batch must not keep others from being published."""
        try:
            await self._publish(organization_id, batch)
        except Exception:  # people were let in all the same
            log.exception("scan_follow_up_failed", organization_id=str(organization_id))

    async def _publish(self, organization_id: UUID, batch: CommittedBatch) -> None:
        """The watch looks at the scans, they are counted, caches remember them, and they are published."""
        new = [
            (each.scan, seat)
            for each, seat in zip(batch.decisions, batch.seats, strict=True)
            if each.is_new and each.scan is not None
        ]
        self._watch.note(organization_id, batch.decisions)
        count_scans([scan for scan, _ in new])
        await self._last_scans.remember(organization_id, batch.plan.entries, batch.begun)
        last = {(scan.event_id, scan.day): scan.id for scan, _ in new if scan.status == "admitted"}
        levels = await self._levels(organization_id, last)
        for scan, seat in new:
            gates = levels.get((scan.event_id, scan.day)) if levels else None
            is_last = last.get((scan.event_id, scan.day)) == scan.id
            self._live.post(
                organization_id,
                _messages(organization_id, scan, seat, gates if is_last else None),
            )

    async def _levels(
        self, organization_id: UUID, last: dict[EventDayId, UUID]
    ) -> dict[EventDayId, msgspec.Raw]:
        """The levels of all gates of the events where somebody passed; nothing while it is too
        early to publish them again."""
        now = time.monotonic()
        if not last or now < self._levels_due.get(organization_id, now):
            return {}
        self._levels_due[organization_id] = now + LEVELS_S
        days = [(event_id, day) for event_id, day in last if day is not None]
        try:
            async with self._database.at_once(organization_id) as tx:
                found = await read_gate_levels(tx, days)
        except Unavailable as refusal:  # the next admission tells them
            log.warning("gate_levels_not_read", error=refusal.code)
            return {}
        return {(each.event_id, each.day): each.gates for each in found}


def _messages(
    organization_id: UUID, scan: Scan, seat: SeatInfo | None, gates: msgspec.Raw | None
) -> list[Message]:
    topic = gate_topic(scan.gate_id)
    if scan.status == "denied":
        return [Message(topic, denied(scan))]
    return [
        Message(topic, passed(scan, seat)),
        Message(occupancy_topic(organization_id, scan.event_id), counted(scan, gates)),
    ]
