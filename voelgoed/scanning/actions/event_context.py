"""What seldom changes and every scan needs: devices, gates and their events, and where the seats are."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import structlog
from cachetools import LRUCache

from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.scanning.model.scans import SeatInfo
from voelgoed.scanning.model.stations import ScanningGate, Stations, WantedStations
from voelgoed.scanning.store.admission import read_stations
from voelgoed.seating.actions.views import load_layout
from voelgoed.seating.rules.plan import Plan
from voelgoed.ticketing.model.admissions import ScannedTicket, TicketPlace
from voelgoed.ticketing.rules.words import seat_notes

log = structlog.get_logger()

ORGANIZATIONS_MAX = 1_000
STATIONS_MAX = 10_000
"""Devices and gates of one organisation that are remembered; with more of them, only those of the last batch."""
PLANS_WEIGHT_MAX = 500_000
"""The seats of all layouts that are kept in memory."""
WAIT_FOR_PLAN_S = 1.0
"""A stadium's takes a second or two, once in the life of a process."""
TRY_AGAIN_S = 30.0
"""The pause after a layout could not be fetched; until then answers name its seats by their labels."""


@dataclass(frozen=True)
class _Fetching:
    task: "asyncio.Task[None]"
    wanted_until: float


def together(some: WantedStations, others: WantedStations) -> WantedStations:
    return WantedStations(
        some.device_ids | others.device_ids,
        some.gate_ids | others.gate_ids,
        some.event_ids | others.event_ids,
    )


def _is_in(some: WantedStations, others: WantedStations) -> bool:
    return (
        some.device_ids <= others.device_ids
        and some.gate_ids <= others.gate_ids
        and some.event_ids <= others.event_ids
    )


@dataclass(frozen=True)
class _Remembered:
    """Stations of one organisation, and what they were read for."""

    wanted: WantedStations
    stations: Stations


class EventContext:
    """None of it can be out of date: stations are compared with the version that is read with every batch, a
    layout never changes."""

    def __init__(self, database: Database, cache: Cache) -> None:
        self._database = database
        self._cache = cache
        self._stations: LRUCache[UUID, _Remembered] = LRUCache(ORGANIZATIONS_MAX)
        self._plans: LRUCache[UUID, Plan] = LRUCache(
            PLANS_WEIGHT_MAX, getsizeof=lambda plan: len(plan) + 100
        )
        self._fetching: dict[UUID, _Fetching] = {}

    async def stations(self, tx: Transaction, wanted: WantedStations) -> Stations:
        """The stations as they were when they were last read. Whoever decides by them compares their version."""
        remembered = self._stations.get(tx.organization_id)
        if remembered is not None:
            if _is_in(wanted, remembered.wanted):
                return remembered.stations
            both = together(wanted, remembered.wanted)
            count = len(both.device_ids) + len(both.gate_ids) + len(both.event_ids)
            wanted = both if count <= STATIONS_MAX else wanted
        stations = await read_stations(tx, wanted)
        self._stations[tx.organization_id] = _Remembered(wanted, stations)
        return stations

    def has_stations(self, organization_id: UUID, wanted: WantedStations) -> bool:
        """Whether they were read, be it to find that there are none such."""
        remembered = self._stations.get(organization_id)
        return remembered is not None and _is_in(wanted, remembered.wanted)

    def forget_stations(self, organization_id: UUID) -> None:
        """They changed."""
        self._stations.pop(organization_id, None)

    def missing_layouts(self, gates: Iterable[ScanningGate]) -> dict[UUID, UUID]:
        """Layouts that should be fetched before scans at these gates are answered, with their
        lineages. Only for so long: a seat's label is better than no answer."""
        return {
            gate.layout_id: gate.lineage_id
            for gate in gates
            if gate.layout_id is not None
            and gate.lineage_id is not None
            and self._is_worth_waiting_for(gate.layout_id)
        }

    def _is_worth_waiting_for(self, layout_id: UUID) -> bool:
        if layout_id in self._plans:
            return False
        fetching = self._fetching.get(layout_id)
        return fetching is None or time.monotonic() < fetching.wanted_until

    async def fetch_layouts(self, organization_id: UUID, lineages: Mapping[UUID, UUID]) -> None:
        """Waits a moment. Each layout is fetched once, however many wait for it, and however long it
        takes."""
        wanted_until = time.monotonic() + WAIT_FOR_PLAN_S
        for layout_id, lineage_id in lineages.items():
            if layout_id not in self._fetching:
                task = asyncio.create_task(self._fetch(organization_id, layout_id, lineage_id))
                self._fetching[layout_id] = _Fetching(task, wanted_until)
                task.add_done_callback(partial(self._forget_fetching, layout_id))
        fetching = [self._fetching[layout_id] for layout_id in lineages]
        left = max(each.wanted_until for each in fetching) - time.monotonic()
        await asyncio.wait({each.task for each in fetching}, timeout=max(0.0, left))

    def _forget_fetching(self, layout_id: UUID, _: "asyncio.Task[None]") -> None:
        self._fetching.pop(layout_id, None)

    async def _fetch(self, organization_id: UUID, layout_id: UUID, lineage_id: UUID) -> None:
        try:
            loaded = await load_layout(
                self._database, self._cache, organization_id, layout_id, lineage_id
            )
        except Exception as fault:  # whatever it was, people still come in
            log.warning("layout_not_at_hand", layout_id=str(layout_id), reason=repr(fault))
            await asyncio.sleep(TRY_AGAIN_S)
        else:
            self._plans[layout_id] = loaded.plan

    def seat(self, layout_id: UUID | None, place: TicketPlace | ScannedTicket) -> SeatInfo | None:
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
