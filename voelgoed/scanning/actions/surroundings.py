"""What seldom changes and every scan needs: an event's days, and where its seats are."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from cachetools import LRUCache

from voelgoed.events.model import EventDay
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.refusal import Refusal
from voelgoed.scanning.model.scans import SeatInfo
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.store import stations
from voelgoed.seating.actions.views import load_layout
from voelgoed.seating.rules.plan import Plan
from voelgoed.ticketing.model.admissions import TicketPlace
from voelgoed.ticketing.rules.words import seat_notes

log = structlog.get_logger()

EVENTS_MAX = 1_000
PLANS_MAX = 50
WAIT_FOR_PLAN_S = 1.0
"""A stadium's takes a second or two, once in the life of a process."""


@dataclass(frozen=True)
class _Fetching:
    task: "asyncio.Task[None]"
    wanted_until: float


class PlanMissing(Exception):
    """A layout is not at hand; it takes too long to fetch one while tickets are locked."""

    def __init__(self, organization_id: UUID, layout_id: UUID, lineage_id: UUID) -> None:
        self.organization_id = organization_id
        self.layout_id = layout_id
        self.lineage_id = lineage_id


class Surroundings:
    """Neither can be wrong: days belong to a version of their event, a layout never changes."""

    def __init__(self, database: Database, cache: Cache) -> None:
        self._database = database
        self._cache = cache
        self._days: LRUCache[tuple[UUID, int], Sequence[EventDay]] = LRUCache(EVENTS_MAX)
        self._plans: LRUCache[UUID, Plan] = LRUCache(PLANS_MAX)
        self._fetching: dict[UUID, _Fetching] = {}

    async def days(self, tx: Transaction, gate: ScanningGate) -> Sequence[EventDay]:
        version = gate.event_id, gate.event_version
        days = self._days.get(version)
        if days is None:
            days = self._days[version] = await stations.find_days(tx, gate.event_id)
        return days

    def require_plan(self, organization_id: UUID, gate: ScanningGate) -> None:
        """Only for so long: a seat's label is better than no answer."""
        layout_id = gate.layout_id
        if layout_id is None or layout_id in self._plans:
            return
        fetching = self._fetching.get(layout_id)
        if fetching is None or time.monotonic() < fetching.wanted_until:
            assert gate.lineage_id is not None
            raise PlanMissing(organization_id, layout_id, gate.lineage_id)

    async def bring(self, missing: PlanMissing) -> None:
        """Waits a moment. It is fetched once, whoever waits for it, and however long it takes."""
        fetching = self._fetching.get(missing.layout_id)
        if fetching is None:
            task = asyncio.create_task(self._fetch(missing))
            fetching = _Fetching(task, time.monotonic() + WAIT_FOR_PLAN_S)
            self._fetching[missing.layout_id] = fetching
            task.add_done_callback(lambda _: self._fetching.pop(missing.layout_id, None))
        left = fetching.wanted_until - time.monotonic()
        await asyncio.wait({fetching.task}, timeout=max(0.0, left))

    async def _fetch(self, missing: PlanMissing) -> None:
        try:
            loaded = await load_layout(
                self._database,
                self._cache,
                missing.organization_id,
                missing.layout_id,
                missing.lineage_id,
            )
        except Refusal as refusal:  # the next scan tries again
            log.warning("layout_not_at_hand", reason=refusal.code)
            await asyncio.sleep(WAIT_FOR_PLAN_S)
        else:
            self._plans[missing.layout_id] = loaded.plan

    def seat(self, layout_id: UUID | None, place: TicketPlace) -> SeatInfo | None:
        """None for a ticket that is for no place of the layout."""
        seat_id, zone_id = place.seat_id, place.zone_id
        plan = None if layout_id is None else self._plans.get(layout_id)
        index = None if plan is None or zone_id is None else plan.zone_index.get(zone_id)
        if plan is None or index is None:
            if place.seat_label is None:
                return None
            return SeatInfo(
                seat_id=seat_id, block_name="", row=None, seat_number=place.seat_label, notes=[]
            )
        block_name = plan.zones[index].name
        position = None if seat_id is None else plan.by_id.get(seat_id)
        if position is None:
            return SeatInfo(
                seat_id=None, block_name=block_name, row=None, seat_number=None, notes=[]
            )
        seat = plan.seats[position]
        beside = list[int]()
        if position in plan.paired:
            beside = [*plan.companions(position), *plan.wheelchairs(position)]
        return SeatInfo(
            seat_id=seat_id,
            block_name=block_name,
            row=seat.row,
            seat_number=str(seat.number),
            notes=seat_notes(seat, [plan.seats[each].seat_id for each in beside]),
        )
