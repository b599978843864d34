"""An event on one node or two, those who want its seats, and what must be true afterwards."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.seating.api_support import SeatedEvent, a_config, a_seated_event
from tests.seating.race_support import (
    COUNTERS_THAT_DIFFER_FROM_ROWS,
    IMPOSSIBLE_SEATS,
)
from tests.support import MovableClock, a_tenant
from tests.ticketing.hold_support import Customer, Shop, a_shop, customers, table
from voelgoed.services import Services
from voelgoed.ticketing.actions.hold_changes import sweep_all

MOMENT = timedelta(microseconds=1)
FIVE_MINUTES = timedelta(minutes=5)
TEN_SECONDS = timedelta(seconds=10)
TAKEN = {
    "seat_already_held_by_another_user",
    "seat_held_by_another_user",
    "seat_not_available",
    "seat_no_longer_available",
}


@dataclass
class Evening:
    """An event on two nodes."""

    event: SeatedEvent
    shops: list[Shop]

    @property
    def nodes(self) -> list[Services]:
        return [shop.services for shop in self.shops]

    @property
    def event_id(self) -> UUID:
        return UUID(self.event.event_id)

    async def crowd(self, count: int) -> list[Customer]:
        """Half of them at each node."""
        shop = self.shops[0]
        people = await customers(shop.services, shop.client, self.event.tenant, count)
        shops = self.shops
        return [who.at(shops[number % len(shops)].client) for number, who in enumerate(people)]

    async def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        return await table(self.nodes[0], self.event.tenant, query, *values)

    async def count(self, query: str, *values: object) -> int:
        [row] = await self.rows(f"SELECT count(*) AS found FROM {query}", *values)
        return row["found"]

    def move(self, time: timedelta) -> None:
        for clock in {id(node.clock): node.clock for node in self.nodes}.values():
            clock.ahead += time  # type: ignore[attr-defined]

    async def require_sound(self) -> None:
        now = self.nodes[0].clock.now()
        for name, query, values in (
            ("counters", COUNTERS_THAT_DIFFER_FROM_ROWS, [self.event_id]),
            ("seats", IMPOSSIBLE_SEATS, [self.event_id]),
            ("two holders", SEATS_WITH_TWO_HOLDERS, [now]),
            ("irregular", HOLDS_THAT_THEIR_SEAT_DOES_NOT_NAME, [now]),
            ("seats without a hold", SEATS_WHOSE_HOLD_IS_NONE, [now]),
            ("places", PLACES_AND_HOLDS_THAT_DIFFER, [now]),
            ("record", HOLDS_NOT_ON_RECORD_ONCE, []),
        ):
            assert await self.rows(query, *values) == [], name


SEATS_WITH_TWO_HOLDERS = """
    SELECT event_id, seat_id FROM seat_hold
     WHERE status = 'active' AND held_until > $1 AND seat_id IS NOT NULL
     GROUP BY event_id, seat_id HAVING count(*) > 1
"""

HOLDS_THAT_THEIR_SEAT_DOES_NOT_NAME = """
    SELECT hold.id FROM seat_hold AS hold LEFT JOIN seat_state AS seat
        ON seat.event_id = hold.event_id AND seat.seat_id = hold.seat_id
     WHERE hold.status = 'active' AND hold.held_until > $1 AND hold.seat_id IS NOT NULL
       AND (seat.seat_hold_id IS DISTINCT FROM hold.id OR seat.status <> 'held'
            OR seat.holder_id <> hold.user_id OR seat.held_until <> hold.held_until)
"""

SEATS_WHOSE_HOLD_IS_NONE = """
    SELECT seat.seat_id FROM seat_state AS seat LEFT JOIN seat_hold AS hold
        ON hold.id = seat.seat_hold_id AND hold.seat_id = seat.seat_id
     WHERE seat.status = 'held' AND seat.held_until > $1
       AND (hold.id IS NULL OR hold.status <> 'active')
"""

PLACES_AND_HOLDS_THAT_DIFFER = """
    SELECT coalesce(hold.id, place.hold_id) AS id FROM (
               SELECT * FROM seat_hold
                WHERE status = 'active' AND held_until > $1 AND days IS NOT NULL) AS hold
      FULL JOIN (SELECT * FROM place_hold WHERE held_until > $1) AS place ON place.hold_id = hold.id
     WHERE hold.places IS DISTINCT FROM place.places OR hold.days IS DISTINCT FROM place.days
        OR hold.held_until IS DISTINCT FROM place.held_until
"""

HOLDS_NOT_ON_RECORD_ONCE = """
    SELECT hold.id, hold.status FROM seat_hold AS hold
     WHERE (SELECT count(*) FROM audit_entry
             WHERE entity_id = hold.id::text AND action = 'seat_reserved') <> 1
        OR (SELECT count(*) FROM audit_entry WHERE entity_id = hold.id::text
               AND action IN ('seat_released', 'seat_hold_expired'))
           <> (hold.status <> 'active')::integer
        OR (SELECT count(*) FROM domain_event WHERE subject_id = hold.id)
           <> 1 + (hold.status <> 'active')::integer
"""


async def an_evening(shops: list[Shop], config: dict[str, Any] | None = None) -> Evening:
    tenant = await a_tenant(shops[0].services, "acme")
    config = config or a_config(places={"Pit": 1_000})
    return Evening(await a_seated_event(shops[0].client, tenant, config), shops)


@asynccontextmanager
async def an_evening_on(
    nodes: int, database_url: str, clock: MovableClock, redis_url: str | None
) -> AsyncIterator[Evening]:
    async with AsyncExitStack() as stack:
        shops = [
            await stack.enter_async_context(a_shop(database_url, clock, redis_url))
            for _ in range(nodes)
        ]
        yield await an_evening(shops)


async def sweep(node: Services) -> int:
    return await sweep_all(node.database, node.cache, node.holds.registry)
