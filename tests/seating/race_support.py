"""An event with seats and places in a real database, and the people who want them."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

import asyncpg
import msgspec

from tests.support import SOON, MovableClock, Tenant
from voelgoed.config import Settings
from voelgoed.events.actions.events import create_event, move_event
from voelgoed.events.actions.venues import create_venue
from voelgoed.events.model import NewEvent, NewVenue, Transition
from voelgoed.infra.database import Transaction
from voelgoed.infra.master_key import MasterKey
from voelgoed.infra.refusal import Refusal, StorageUnavailable
from voelgoed.seating.actions import places as place_actions
from voelgoed.seating.actions import seats as seat_actions
from voelgoed.seating.actions.event_layouts import EventSeating, put_event_layout
from voelgoed.seating.actions.layouts import create_layout
from voelgoed.seating.actions.places import Places
from voelgoed.seating.actions.questions import Questions
from voelgoed.seating.actions.seats import SeatHold, retrying
from voelgoed.seating.actions.views import View, see
from voelgoed.seating.model.event_layout import NewEventLayout, Overrides
from voelgoed.seating.model.layout import NewLayout
from voelgoed.seating.model.seats import (
    Availability,
    SeatBlock,
    SeatsChanged,
    SeatUnblock,
    ZoneCount,
)
from voelgoed.services import Services, build_services, running

T = TypeVar("T")

STALLS, BALCONY, FLOOR, PIT = (UUID(int=number) for number in (101, 102, 103, 104))
FLOOR_PLACES, PIT_PLACES = 20, 10
DAYS = [(SOON + timedelta(days=number)).date() for number in range(3)]
FIVE_MINUTES = timedelta(minutes=5)
CODES = ["available", "held", "sold", "blocked", "soft_reserved", "withheld"]


def a_config(**capacities: int) -> dict[str, Any]:
    """Stalls A1-A6 and B1-B6 (B1 a wheelchair place, B2 its companion), balcony C1-C4, a floor
    and a pit."""
    return {
        "zones": [
            _seated(STALLS, "Stalls", {"A": 6, "B": 6}),
            _seated(BALCONY, "Balcony", {"C": 4}),
            _standing(FLOOR, "Floor", capacities.get("floor", FLOOR_PLACES)),
            _standing(PIT, "Pit", capacities.get("pit", PIT_PLACES)),
        ]
    }


def a_hall(seats: int) -> dict[str, Any]:
    return {"zones": [_seated(STALLS, "Hall", {"A": seats})]}


def _seated(zone_id: UUID, name: str, rows: dict[str, int]) -> dict[str, Any]:
    seats = [
        {
            "seat_id": f"{row}{number}",
            "row": row,
            "number": number,
            "coordinates": {"x": number, "y": ord(row)},
            **_category(f"{row}{number}"),
        }
        for row, count in rows.items()
        for number in range(1, count + 1)
    ]
    return {
        "zone_id": str(zone_id),
        "zone_type": "reserved_seating",
        "name": name,
        "capacity": len(seats),
        "seats": seats,
    }


def _category(seat_id: str) -> dict[str, str]:
    return {"B1": {"category": "wheelchair"}, "B2": {"category": "companion"}}.get(seat_id, {})


def _standing(zone_id: UUID, name: str, capacity: int) -> dict[str, Any]:
    return {
        "zone_id": str(zone_id),
        "zone_type": "ga_standing",
        "name": name,
        "capacity": capacity,
    }


@dataclass(frozen=True)
class Stage:
    """One event, as one node sees it."""

    services: Services
    tenant: Tenant
    event_id: UUID
    layout_id: UUID

    def on(self, services: Services) -> "Stage":
        """The same event through another node."""
        return replace(self, services=services)

    @property
    def caller(self):
        return self.tenant.caller("owner")

    @property
    def questions(self) -> Questions:
        services = self.services
        return Questions(services.database, services.cache, self.caller, self.event_id)

    def transaction(self):
        return self.services.database.transaction(self.tenant.id)

    def in_five_minutes(self) -> datetime:
        return self.services.clock.now() + FIVE_MINUTES

    async def view(self) -> View:
        services = self.services
        return await see(services.database, services.cache, self.caller, self.event_id)

    # Seats, named with blanks between them. Each of these is one transaction.

    async def hold(
        self,
        seats: str,
        hold_id: UUID | None = None,
        holder_id: UUID | None = None,
        until: datetime | None = None,
    ) -> UUID:
        hold = SeatHold(hold_id or uuid4(), holder_id, until or self.in_five_minutes())

        async def once() -> UUID:
            view = await self.view()
            async with self.transaction() as tx:
                await seat_actions.hold(tx, self.caller, view, at(view, seats), hold)
            return hold.id

        return await retrying(once)

    async def release(self, seats: str, hold_id: UUID) -> int:
        view = await self.view()
        async with self.transaction() as tx:
            return len(await seat_actions.release(tx, view, at(view, seats), [hold_id]))

    async def sell(self, seats: str, hold_id: UUID) -> None:
        async def once() -> None:
            view = await self.view()
            async with self.transaction() as tx:
                await seat_actions.sell(tx, view, at(view, seats), [hold_id])

        await retrying(once)

    async def give_back(self, seats: str, hold_id: UUID) -> int:
        view = await self.view()
        async with self.transaction() as tx:
            return await seat_actions.give_back(tx, view, at(view, seats), [hold_id])

    async def hold_and_sell(self, seats: str, holder_id: UUID | None = None) -> UUID:
        hold_id = await self.hold(seats, holder_id=holder_id)
        await self.sell(seats, hold_id)
        return hold_id

    async def block(
        self, seats: str, reason: str = "broken", *, including_taken: bool = False
    ) -> SeatsChanged:
        block = SeatBlock(seat_ids=seats.split(), reason=reason, including_taken=including_taken)
        services = self.services
        return await seat_actions.block_seats(
            services.database, services.cache, self.caller, self.event_id, block
        )

    async def unblock(self, seats: str, reason: str = "mended") -> SeatsChanged:
        unblock = SeatUnblock(seat_ids=seats.split(), reason=reason)
        services = self.services
        return await seat_actions.unblock_seats(
            services.database, services.cache, self.caller, self.event_id, unblock
        )

    # Places.

    async def hold_places(
        self, *wanted: Places, hold_id: UUID | None = None, until: datetime | None = None
    ) -> UUID:
        chosen = hold_id or uuid4()

        async def once() -> UUID:
            view = await self.view()
            async with self.transaction() as tx:
                await place_actions.hold_places(
                    tx, view, wanted, chosen, until or self.in_five_minutes()
                )
            return chosen

        return await retrying(once)

    async def release_places(self, hold_id: UUID) -> int:
        view = await self.view()
        async with self.transaction() as tx:
            return await place_actions.release_places(tx, view, [hold_id])

    async def sell_places(self, *wanted: Places, hold_id: UUID) -> None:
        view = await self.view()
        async with self.transaction() as tx:
            await place_actions.sell_places(tx, view, wanted, [hold_id])

    async def give_places_back(self, sold: Sequence[Places]) -> None:
        view = await self.view()
        async with self.transaction() as tx:
            await place_actions.give_places_back(tx, view, sold)

    # The layout.

    async def put(
        self,
        overrides: dict[str, Any] | None = None,
        *,
        version: int | None,
        layout_id: UUID | None = None,
    ) -> EventSeating:
        new = NewEventLayout(
            layout_id=layout_id or self.layout_id,
            overrides=msgspec.convert(overrides or {}, Overrides),
            version=version,
        )
        services = self.services
        return await put_event_layout(
            services.database, services.cache, self.caller, self.event_id, new
        )

    # What is true, straight from the tables.

    async def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        async with self.transaction() as tx:
            return [dict(row) for row in await tx.connection.fetch(query, *values)]

    async def seat(self, seat_id: str) -> dict[str, Any]:
        view = await self.view()
        [position] = at(view, seat_id)
        found = await self.rows(
            "SELECT status, held_until, locked_at, seat_hold_id, holder_id, blocked_reason,"
            " sold_when_blocked, version FROM seat_state WHERE event_id = $1 AND seat_id = $2",
            self.event_id,
            view.plan.ids[position],
        )
        return found[0] if found else {"status": "available", "version": 0}

    async def statuses(self, seats: str) -> list[str]:
        return [(await self.seat(seat_id))["status"] for seat_id in seats.split()]

    async def codes(self, seats: str) -> list[str]:
        """As the public sees them, through the caches."""
        view = await self.view()
        shown = unpacked((await self.questions.seat_map()).seats, len(view.plan))
        return [CODES[shown[position]] for position in at(view, seats)]

    async def zone(self, zone_id: UUID) -> ZoneCount:
        return zone_of(await self.questions.availability(), zone_id)

    async def counters(self, zone_id: UUID) -> dict[dt.date, tuple[int, int]]:
        """Held and sold on each day, as the counters have it."""
        rows = await self.rows(
            "SELECT day, held, sold FROM zone_day WHERE event_id = $1 AND zone_id = $2",
            self.event_id,
            zone_id,
        )
        return {row["day"]: (row["held"], row["sold"]) for row in rows}

    async def require_sound(self) -> None:
        """Counters equal the rows and are in bounds; no row contradicts itself."""
        assert await self.rows(COUNTERS_THAT_DIFFER_FROM_ROWS, self.event_id) == []
        assert await self.rows(IMPOSSIBLE_SEATS, self.event_id) == []


COUNTERS_THAT_DIFFER_FROM_ROWS = """
    SELECT zone_day.zone_id, zone_day.day, held, sold, capacity, counted.places
      FROM zone_day LEFT JOIN LATERAL (
               SELECT coalesce(sum(places), 0) AS places FROM place_hold
                WHERE place_hold.event_id = zone_day.event_id
                  AND place_hold.zone_id = zone_day.zone_id AND zone_day.day = ANY(days)
           ) AS counted ON true
     WHERE zone_day.event_id = $1
       AND (held <> counted.places OR held < 0 OR sold < 0 OR held + sold > capacity)
     UNION ALL
    SELECT zone_id, day, places, 0, 0, 0 FROM place_hold, unnest(days) AS day
     WHERE event_id = $1 AND NOT EXISTS (
               SELECT 1 FROM zone_day WHERE zone_day.event_id = place_hold.event_id
                  AND zone_day.zone_id = place_hold.zone_id AND zone_day.day = day.day)
"""

IMPOSSIBLE_SEATS = """
    SELECT seat_id, status, version FROM seat_state WHERE event_id = $1 AND NOT (
        (status = 'held') = (held_until IS NOT NULL)
        AND (status = 'held') = (locked_at IS NOT NULL)
        AND (status = 'blocked') = (blocked_reason IS NOT NULL)
        AND (seat_hold_id IS NOT NULL) = (status IN ('held', 'sold') OR sold_when_blocked)
        AND (holder_id IS NULL OR seat_hold_id IS NOT NULL)
        AND (status = 'blocked' OR NOT sold_when_blocked)
        AND version > 0)
"""


def at(view: View, seats: str) -> list[int]:
    return [view.position(seat_id) for seat_id in seats.split()]


def unpacked(packed: bytes, count: int) -> list[int]:
    return [code for byte in packed for code in (byte & 15, byte >> 4)][:count]


def zone_of(counts: Availability, zone_id: UUID) -> ZoneCount:
    return next(zone for zone in counts.zones if zone.zone_id == zone_id)


def floor(count: int, days: Iterable[dt.date] = DAYS) -> Places:
    return Places(FLOOR, count, list(days))


def pit(count: int, days: Iterable[dt.date] = DAYS) -> Places:
    return Places(PIT, count, list(days))


async def a_stage(
    services: Services, tenant: Tenant, config: dict[str, Any] | None = None
) -> Stage:
    """A published event of three days with this layout."""
    database, owner = services.database, tenant.caller("owner")
    venue = await create_venue(
        database, owner, NewVenue(name="Hall", timezone="Africa/Johannesburg"), None
    )
    new = NewEvent(
        venue_id=venue.id,
        name="Festival",
        starts_at=SOON,
        ends_at=SOON + timedelta(days=2, hours=5),
        capacity=500,
    )
    event = await create_event(database, owner, new, None)
    assert [day.date for day in event.days] == DAYS
    await move_event(database, owner, event.id, Transition(to="published"))
    layout_id = await a_layout_of(services, tenant, venue.id, config or a_config())
    stage = Stage(services, tenant, event.id, layout_id)
    await stage.put(version=None)
    return stage


async def a_layout_of(
    services: Services, tenant: Tenant, venue_id: UUID, config: dict[str, Any]
) -> UUID:
    new = NewLayout(name="Layout", config=config)
    layout = await create_layout(services.database, tenant.caller("owner"), venue_id, new, None)
    return layout.id


async def another_layout(stage: Stage, config: dict[str, Any]) -> UUID:
    view = await stage.view()
    return await a_layout_of(stage.services, stage.tenant, view.event.venue_id, config)


@asynccontextmanager
async def a_node(
    database_url: str,
    clock: MovableClock,
    redis_url: str | None = None,
    connections: int = 10,
    master_key: MasterKey | None = None,
) -> AsyncIterator[Services]:
    """Another process, as far as the database and Redis can tell."""
    settings = Settings(database_connections_max=connections, redis_url=redis_url)
    services = build_services(settings, database_url, clock, master_key)
    async with running(services, with_jobs=False):
        yield services


async def outcomes(works: Iterable[Awaitable[T]]) -> list[T | Refusal]:
    """Of all at once. Anything but a refusal is a fault of ours."""
    found = await asyncio.gather(*works, return_exceptions=True)
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, Refusal):
            raise each
        if isinstance(each, StorageUnavailable):
            raise each
    return found  # type: ignore[return-value]


async def insistently(work: Callable[[], Awaitable[T]]) -> T:
    """Like a client who is told that the server is busy, and comes again."""
    while True:
        try:
            return await work()
        except StorageUnavailable as busy:
            if isinstance(busy.__cause__, asyncpg.DeadlockDetectedError):
                raise
            await asyncio.sleep(0.01)


async def waiting_for_a_lock(stage: Stage, count: int = 1) -> None:
    """Until so many statements of this database wait for somebody else's transaction."""
    async with asyncio.timeout(20):
        while True:
            [row] = await stage.rows(
                "SELECT count(*) AS waiting FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if row["waiting"] >= count:
                return
            await asyncio.sleep(0.005)


async def is_stuck(task: asyncio.Task[Any], stage: Stage) -> bool:
    """Whether it comes to wait for a lock; False when it ends without."""
    waiting = asyncio.create_task(waiting_for_a_lock(stage))
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    stuck = not task.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    return stuck


def refusals(found: Iterable[object]) -> list[str]:
    return [each.code for each in found if isinstance(each, Refusal)]


async def ask(tx: Transaction, query: str, *values: object) -> list[Any]:
    """SQL that is none of the program's."""
    return await tx.connection.fetch(query, *values)
