"""What follows from scans after they were answered: nobody at a gate waits for it."""

import time
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

import msgspec
import structlog

from voelgoed.infra.database import Database, Message
from voelgoed.infra.live import Live
from voelgoed.infra.refusal import Unavailable
from voelgoed.scanning.actions.figures import count_scans
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

    async def run(self, organization_id: UUID, batch: CommittedBatch) -> None:
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
