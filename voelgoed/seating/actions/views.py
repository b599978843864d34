"""An event's seating as every question about it needs it, from the nearest tier that knows."""

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of, visible_event
from voelgoed.events.model import Event
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.keys import key
from voelgoed.infra.metrics import layout_load, layout_reads
from voelgoed.seating.actions.policies import policy_of
from voelgoed.seating.model.event_layout import Assignment, EventLayout, EventZone
from voelgoed.seating.model.layout import SEATED, LayoutConfig
from voelgoed.seating.model.policy import SeatingPolicy
from voelgoed.seating.model.refusals import (
    EventLayoutNotFound,
    LayoutNotFound,
    SeatNotFound,
    SeatsChangedMeanwhile,
    ZoneNotFound,
)
from voelgoed.seating.model.seats import Snapshot
from voelgoed.seating.rules.house import House, house
from voelgoed.seating.rules.messages import seats_topic
from voelgoed.seating.rules.overlay import event_zones
from voelgoed.seating.rules.plan import Plan, compile_plan
from voelgoed.seating.rules.policy import effective_policy
from voelgoed.seating.store import event_layouts, layouts
from voelgoed.seating.store.event_layouts import UsedLayout
from voelgoed.seating.store.seats import read_snapshot

log = structlog.get_logger()

LAYOUT_TTL_S = 24 * 3600.0
BITMAP_TTL_S = 15 * 60.0


@dataclass(frozen=True)
class LoadedLayout:
    text: bytes
    """The config as JSON."""
    plan: Plan

    compressed: bytes


@dataclass(frozen=True)
class View:
    event: Event
    event_layout: EventLayout
    zones: tuple[EventZone, ...]
    policy: SeatingPolicy
    plan: Plan

    def house(self, snapshot: Snapshot, now: datetime) -> House:
        blocked = self.event_layout.overrides.blocked_seat_ids
        return house(self.plan, self.zones, blocked, self.policy, snapshot, now)

    @property
    def hold_ttl(self) -> timedelta:
        return timedelta(minutes=self.policy.default_hold_ttl_minutes)

    @property
    def assignment(self) -> Assignment:
        return Assignment(self.event_layout.id, self.event_layout.version)

    def closed(self, positions: Sequence[int]) -> set[int]:
        """Those that the event's layout does not sell, whatever their state."""
        return {
            position
            for position in positions
            if int(self.plan.zone[position]) in self.closed_zones or position in self.blocked
        }

    @cached_property
    def closed_zones(self) -> frozenset[int]:
        """Indexes of those in which no seats are sold."""
        return frozenset(
            index
            for index, zone in enumerate(self.zones)
            if not zone.enabled or zone.zone.zone_type not in SEATED
        )

    @cached_property
    def blocked(self) -> frozenset[int]:
        """By the event's layout; others may be blocked by their state."""
        named = self.event_layout.overrides.blocked_seat_ids
        return frozenset(self.plan.by_seat_id[seat_id] for seat_id in named)

    @cached_property
    def restricted_zones(self) -> frozenset[UUID]:
        """Those that are not open to everybody."""
        zones = (each.zone for each in self.zones)
        return frozenset(zone.zone_id for zone in zones if zone.access_mode != "public")

    def position(self, seat_id: str) -> int:
        position = self.plan.find(seat_id)
        if position is None:
            raise SeatNotFound(seat_id=seat_id)
        return position

    def zone(self, zone_id: UUID) -> EventZone:
        index = self.plan.zone_index.get(zone_id)
        if index is None:
            raise ZoneNotFound(zone_id=str(zone_id))
        return self.zones[index]


def bitmap_key(organization_id: UUID, event_id: UUID) -> str:
    return key(organization_id, "event", event_id, "seats", "bitmap")


def seat_hold_key(organization_id: UUID, seat_id: UUID) -> str:
    """Who holds a seat. Events that share a layout share its seats, so the value names the event."""
    return key(organization_id, "seat", seat_id, "hold")


def occupancy_key(organization_id: UUID, event_id: UUID) -> str:
    return key(organization_id, "event", event_id, "occupancy")


async def see(database: Database, cache: Cache, caller: Caller, event_id: UUID) -> View:
    """Not inside a transaction: a layout that nobody has at hand is read in one of its own."""

    async def read(tx: Transaction) -> Event:
        return await visible_event(tx, caller, event_id)

    return await _view(database, cache, caller.organization_id, event_id, read)


async def see_any(database: Database, cache: Cache, organization_id: UUID, event_id: UUID) -> View:
    """In whatever state the event is: for who will say themselves why it does not do."""

    async def read(tx: Transaction) -> Event:
        return await event_of(tx, event_id)

    return await _view(database, cache, organization_id, event_id, read)


async def _view(
    database: Database,
    cache: Cache,
    organization_id: UUID,
    event_id: UUID,
    read: Callable[[Transaction], Awaitable[Event]],
) -> View:
    async with database.transaction(organization_id) as tx:
        event = await read(tx)
        used = await event_layouts.find_used_layout(tx, event_id)
        policy = await policy_of(tx)
    if used is None:
        raise EventLayoutNotFound()
    return await _compose(database, cache, organization_id, event, used, policy)


async def view_in(tx: Transaction, database: Database, cache: Cache, event_id: UUID) -> View | None:
    """The view as this transaction sees it; None while the event has no layout. Only for events whose
    layout this process has at hand: otherwise it is read in a second transaction."""
    used = await event_layouts.find_used_layout(tx, event_id)
    if used is None:
        return None
    event, policy = await event_of(tx, event_id), await policy_of(tx)
    return await _compose(database, cache, tx.organization_id, event, used, policy)


async def _compose(
    database: Database,
    cache: Cache,
    organization_id: UUID,
    event: Event,
    used: UsedLayout,
    policy: SeatingPolicy,
) -> View:
    layout_id, overrides = used.event_layout.layout_id, used.event_layout.overrides
    loaded = await load_layout(database, cache, organization_id, layout_id, used.lineage_id)
    return View(
        event=event,
        event_layout=used.event_layout,
        zones=event_zones(loaded.plan.zones, overrides),
        policy=effective_policy(policy, overrides.seating_overrides),
        plan=loaded.plan,
    )


async def load_layout(
    database: Database, cache: Cache, organization_id: UUID, layout_id: UUID, lineage_id: UUID
) -> LoadedLayout:
    hit = True

    async def read() -> bytes:
        async with database.transaction(organization_id) as tx:
            text = await layouts.find_config(tx, layout_id)
        if text is None:
            raise LayoutNotFound()
        return await asyncio.to_thread(canonical, text)

    async def true_hash() -> str | None:
        async with database.transaction(organization_id) as tx:
            layout = await layouts.find_layout(tx, layout_id)
        return layout and layout.config_hash

    async def make() -> LoadedLayout:
        """Seats are granted by it, so what Redis says is believed only if its hash is right."""
        nonlocal hit
        hit = False
        begun = time.perf_counter()
        config_key = key(organization_id, "layout", layout_id, "config")
        text = await cache.read_text(config_key, read, ttl_s=LAYOUT_TTL_S)
        if await asyncio.to_thread(_hash, text) != await true_hash():
            log.warning("layout_cache_wrong", org_id=str(organization_id), layout_id=str(layout_id))
            await cache.drop([config_key])
            text = await read()
        loaded = await asyncio.to_thread(_compile, text, lineage_id)
        layout_load.observe(time.perf_counter() - begun)
        return loaded

    plan_key = key(organization_id, "layout", layout_id, "plan")
    loaded = await cache.keep(
        plan_key, LoadedLayout, make, weight=lambda loaded: len(loaded.plan) + 100
    )
    layout_reads.labels(hit).inc()
    return loaded


def canonical(text: str) -> bytes:
    """What the hash is of; PostgreSQL keeps the value, not the spelling."""
    return msgspec.json.encode(msgspec.json.decode(text, type=LayoutConfig), order="deterministic")


def _hash(text: bytes) -> str:
    return sha256(text).hexdigest()


def _compile(text: bytes, lineage_id: UUID) -> LoadedLayout:
    """All that takes long, here, in a thread."""
    plan = compile_plan(msgspec.json.decode(text, type=LayoutConfig), lineage_id)
    plan.look_up_everything()
    return LoadedLayout(text, plan, gzip.compress(text, compresslevel=5, mtime=0))


async def snapshot_of(
    database: Database, cache: Cache, organization_id: UUID, event_id: UUID
) -> Snapshot:
    async def load() -> Snapshot:
        async with database.transaction(organization_id) as tx:
            return await snapshot_in(tx, event_id)

    return await cache.read(
        bitmap_key(organization_id, event_id), Snapshot, load, ttl_s=BITMAP_TTL_S
    )


async def snapshot_in(tx: Transaction, event_id: UUID) -> Snapshot:
    """What is told later may be in here already, never the other way round."""
    return await read_snapshot(tx, event_id, seats_topic(event_id))


async def require_same_view(tx: Transaction, view: View) -> None:
    """Until this transaction ends the event and its layout are what the view says, and the policy
    is so now: for views that were made a while ago."""
    found = await event_layouts.share_versions(tx, view.event.id)
    if (
        found is None
        or Assignment(found.assignment_id, found.assignment_version) != view.assignment
        or found.event_version != view.event.version
        or (found.policy_version or 1) != view.policy.version
    ):
        raise SeatsChangedMeanwhile()
    tx.seen["unchanged", view.event.id] = view.assignment


async def require_unchanged(tx: Transaction, view: View) -> None:
    """Until this transaction ends the event's layout is what the view says."""
    if tx.seen.get(("unchanged", view.event.id)) == view.assignment:
        return  # it was made sure of before, and nobody can change it since
    if await event_layouts.share_event_layout(tx, view.event.id) != view.assignment:
        raise SeatsChangedMeanwhile()
