"""What seldom changes and every scan needs: an event's days, and where its seats are."""

from collections.abc import Sequence
from uuid import UUID

from cachetools import LRUCache

from voelgoed.events.model import EventDay
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.scanning.model.scans import SeatInfo
from voelgoed.scanning.model.stations import ScanningGate
from voelgoed.scanning.store import stations
from voelgoed.seating.actions.views import load_layout
from voelgoed.seating.rules.plan import Plan
from voelgoed.ticketing.rules.words import seat_notes

EVENTS_MAX = 1_000
PLANS_MAX = 50


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

    async def days(self, tx: Transaction, gate: ScanningGate) -> Sequence[EventDay]:
        version = gate.event_id, gate.event_version
        days = self._days.get(version)
        if days is None:
            days = self._days[version] = await stations.find_days(tx, gate.event_id)
        return days

    def require_plan(self, organization_id: UUID, gate: ScanningGate) -> None:
        if gate.layout_id is not None and gate.layout_id not in self._plans:
            assert gate.lineage_id is not None
            raise PlanMissing(organization_id, gate.layout_id, gate.lineage_id)

    async def bring(self, missing: PlanMissing) -> None:
        loaded = await load_layout(
            self._database,
            self._cache,
            missing.organization_id,
            missing.layout_id,
            missing.lineage_id,
        )
        self._plans[missing.layout_id] = loaded.plan

    def seat(
        self, layout_id: UUID | None, seat_id: UUID | None, zone_id: UUID | None
    ) -> SeatInfo | None:
        """None for a ticket that is for no place of the layout."""
        plan = None if layout_id is None else self._plans.get(layout_id)
        index = None if plan is None or zone_id is None else plan.zone_index.get(zone_id)
        if plan is None or index is None:
            return None
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
