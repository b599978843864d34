from collections.abc import Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import changeable_event
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction, refusing
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict
from voelgoed.seating.actions.layouts import layout_of, unknown_whitelists
from voelgoed.seating.actions.policies import policy_of
from voelgoed.seating.actions.seats import drop_caches
from voelgoed.seating.actions.views import load_layout, see
from voelgoed.seating.model.event_layout import (
    EventLayout,
    EventSeating,
    EventZone,
    NewEventLayout,
    Overrides,
)
from voelgoed.seating.model.layout import Fault, Layout
from voelgoed.seating.model.refusals import (
    EventLayoutNotFound,
    EventLayoutTaken,
    InvalidOverrides,
    LayoutFrozen,
    LayoutNotActive,
    PolicyForbids,
    SeatsHeld,
)
from voelgoed.seating.rules.messages import layout_changed, seats_topic
from voelgoed.seating.rules.overlay import event_zones, overlay_faults
from voelgoed.seating.rules.plan import Plan
from voelgoed.seating.rules.policy import effective_policy, event_zone_faults, override_faults
from voelgoed.seating.rules.validation_shapes import FAULTS_MAX
from voelgoed.seating.store import event_layouts as store
from voelgoed.seating.store.places import set_capacity

AUDITED_SEATS_MAX = 5_000


async def read_event_layout(
    database: Database, cache: Cache, caller: Caller, event_id: UUID
) -> EventSeating:
    view = await see(database, cache, caller, event_id)
    return _seating(view.event_layout, view.zones, view.plan)


async def put_event_layout(
    database: Database, cache: Cache, caller: Caller, event_id: UUID, new: NewEventLayout
) -> EventSeating:
    """Assigns a layout, or replaces the one there is: until the first ticket is sold, and not
    while somebody holds a seat."""
    async with database.transaction(caller.organization_id) as tx:
        await changeable_event(tx, event_id)
        layout = await layout_of(tx, new.layout_id)
    organization_id = caller.organization_id
    loaded = await load_layout(database, cache, organization_id, layout.id, layout.lineage_id)
    async with database.transaction(organization_id) as tx:
        event = await changeable_event(tx, event_id)
        before = await store.lock_event_layout(tx, event_id)
        _check_usable(await layout_of(tx, new.layout_id), event.venue_id, before)
        overrides = await _checked(tx, loaded.plan, new.overrides)
        zones = event_zones(loaded.plan.zones, overrides)
        if before and _is_repetition(before, new, overrides):
            return _seating(before, zones, loaded.plan)
        after = EventLayout(
            id=before.id if before else new_id(),
            event_id=event_id,
            layout_id=layout.id,
            layout_version=layout.version,
            overrides=overrides,
            version=before.version + 1 if before else 1,
            created_at=before.created_at if before else tx.now,
            updated_at=tx.now,
        )
        await _write(tx, loaded.plan, before, after, new.version)
        for zone in zones:
            await set_capacity(tx, event_id, zone.zone.zone_id, zone.zone.capacity)
        await record(tx, caller, "event_layout_set", "EventLayout", after.id, _changes(after))
        _forget(tx, event_id)
        return _seating(after, zones, loaded.plan)


async def remove_event_layout(database: Database, caller: Caller, event_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        await changeable_event(tx, event_id)
        before = await store.lock_event_layout(tx, event_id)
        if before is None:
            raise EventLayoutNotFound()
        await _refuse_if_taken(tx, event_id)
        await store.delete_event_layout(tx, event_id)
        await record(tx, caller, "event_layout_removed", "EventLayout", before.id)
        _forget(tx, event_id)


def _is_repetition(before: EventLayout, new: NewEventLayout, overrides: Overrides) -> bool:
    """Of the request that made it what it is, perhaps because its answer was lost."""
    made_by = before.version - 1 or None
    return (new.version, new.layout_id, overrides) == (made_by, before.layout_id, before.overrides)


def _check_usable(layout: Layout, venue_id: UUID, before: EventLayout | None) -> None:
    """An event may stay with a version that was archived since; it may not begin with one."""
    kept = before is not None and before.layout_id == layout.id
    if layout.venue_id != venue_id or (layout.status != "active" and not kept):
        raise LayoutNotActive(status=layout.status)


async def _checked(tx: Transaction, plan: Plan, overrides: Overrides) -> Overrides:
    """With seats named by UUID turned into their labels. Everything wrong is told at once."""
    labels = [_label(plan, seat_id) for seat_id in overrides.blocked_seat_ids]
    overrides = msgspec.structs.replace(overrides, blocked_seat_ids=labels)
    zones = event_zones(plan.zones, overrides)
    faults = overlay_faults(plan.zones, plan.by_seat_id.keys(), overrides)
    faults += await _whitelist_faults(tx, zones)
    if faults:
        raise InvalidOverrides(faults=faults[:FAULTS_MAX])
    policy = await policy_of(tx)
    faults = override_faults(policy, overrides.seating_overrides)
    faults += event_zone_faults(zones, effective_policy(policy, overrides.seating_overrides))
    if faults:
        raise PolicyForbids(faults=faults)
    return overrides


async def _whitelist_faults(tx: Transaction, zones: Sequence[EventZone]) -> list[Fault]:
    missing = await unknown_whitelists(tx, [zone.zone for zone in zones])
    return [
        Fault(
            f"$.zone_overrides.{zone.zone.zone_id}.whitelist_id",
            "names no whitelist of this organisation",
        )
        for zone in zones
        if zone.zone.whitelist_id in missing
    ]


def _label(plan: Plan, seat_id: str) -> str:
    position = plan.find(seat_id)
    return seat_id if position is None else plan.seats[position].seat_id


async def _write(
    tx: Transaction,
    plan: Plan,
    before: EventLayout | None,
    after: EventLayout,
    version: int | None,
) -> None:
    if before is None:
        if version is not None:
            raise EventLayoutNotFound()
        with refusing("event_layout_pkey", EventLayoutTaken):
            await store.insert_event_layout(tx, after)
        return
    if version is None:
        raise EventLayoutTaken(current_version=before.version)
    if version != before.version:
        raise VersionConflict(current_version=before.version)
    await _refuse_if_taken(tx, after.event_id)
    await store.forget_holds(tx, after.event_id)
    if before.layout_id != after.layout_id:
        await _carry_blocks_over(tx, plan, after.event_id)
    if not await store.update_event_layout(tx, after):
        raise VersionConflict()


async def _carry_blocks_over(tx: Transaction, plan: Plan, event_id: UUID) -> None:
    """A broken chair is broken in the next version too, if it is still there. Positions are of
    one version; ids are of all."""
    blocked = await store.blocked_seats(tx, event_id)
    still_there = [seat_id for seat_id in blocked if seat_id in plan.by_id]
    positions = [plan.by_id[seat_id] for seat_id in still_there]
    await store.carry_over(tx, event_id, still_there, positions)


async def _refuse_if_taken(tx: Transaction, event_id: UUID) -> None:
    if await store.anything_sold(tx, event_id):
        raise LayoutFrozen()
    if await store.anything_held(tx, event_id, tx.now):
        raise SeatsHeld()


def _forget(tx: Transaction, event_id: UUID) -> None:
    drop_caches(tx, event_id)
    tx.publish(seats_topic(event_id), layout_changed(event_id))


def _changes(after: EventLayout) -> dict[str, object]:
    overrides = msgspec.to_builtins(after.overrides, str_keys=True)
    blocked = after.overrides.blocked_seat_ids
    if len(blocked) > AUDITED_SEATS_MAX:
        overrides["blocked_seat_ids"] = f"{len(blocked)} seats"
    return {
        "event_id": after.event_id,
        "layout_id": after.layout_id,
        "layout_version": after.layout_version,
        "overrides": overrides,
    }


def _seating(event_layout: EventLayout, zones: tuple[EventZone, ...], plan: Plan) -> EventSeating:
    return EventSeating(
        event_layout=event_layout,
        zones=list(zones),
        seat_count=len(plan),
    )
