"""An event's seating as every question about it needs it, from the nearest tier that knows."""

import asyncio
import gzip
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import visible_event
from voelgoed.events.model import Event
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.keys import key
from voelgoed.infra.live import current_seq
from voelgoed.infra.metrics import layout_load, layout_reads
from voelgoed.seating.actions.policies import policy_of
from voelgoed.seating.model.event_layout import EventLayout, EventZone
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
from voelgoed.seating.store.event_layouts import Assignment
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
    def assignment(self) -> Assignment:
        return Assignment(self.event_layout.id, self.event_layout.version)

    def closed(self, positions: Sequence[int]) -> set[int]:
        """Those that the event's layout does not sell, whatever their state."""
        blocked = set(self.event_layout.overrides.blocked_seat_ids)
        zones = [self.zones[int(self.plan.zone[position])] for position in positions]
        return {
            position
            for position, zone in zip(positions, zones, strict=True)
            if not zone.enabled
            or zone.zone.zone_type not in SEATED
            or self.plan.seats[position].seat_id in blocked
        }

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


def occupancy_key(organization_id: UUID, event_id: UUID) -> str:
    return key(organization_id, "event", event_id, "occupancy")


async def see(database: Database, cache: Cache, caller: Caller, event_id: UUID) -> View:
    """Not inside a transaction: a layout that nobody has at hand is read in one of its own."""
    async with database.transaction(caller.organization_id) as tx:
        event = await visible_event(tx, caller, event_id)
        used = await event_layouts.find_used_layout(tx, event_id)
        policy = await policy_of(tx)
    if used is None:
        raise EventLayoutNotFound()
    organization_id = caller.organization_id
    layout_id = used.event_layout.layout_id
    loaded = await load_layout(database, cache, organization_id, layout_id, used.lineage_id)
    overrides = used.event_layout.overrides
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
    """The number first: what is told later may be in here already, never the other way round."""
    seq = await current_seq(tx, seats_topic(event_id))
    return await read_snapshot(tx, event_id, seq)


async def require_unchanged(tx: Transaction, view: View) -> None:
    """Until this transaction ends the event's layout is what the view says."""
    if await event_layouts.share_event_layout(tx, view.event.id) != view.assignment:
        raise SeatsChangedMeanwhile()
