import asyncio
from collections.abc import Callable, Sequence
from hashlib import sha256
from uuid import UUID

import msgspec
import structlog

from voelgoed.accounts.actions.audit import record
from voelgoed.accounts.actions.whitelists import existing_whitelists
from voelgoed.accounts.model import Caller
from voelgoed.events.actions.venues import venue_of
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.idempotency import IdempotencyKey, once
from voelgoed.infra.ids import new_id
from voelgoed.infra.refusal import VersionConflict
from voelgoed.seating.actions.policies import policy_of
from voelgoed.seating.actions.views import canonical
from voelgoed.seating.forms.csv_form import draft_of_csv
from voelgoed.seating.forms.draft import Draft
from voelgoed.seating.forms.text_form import draft_of_text
from voelgoed.seating.model.layout import (
    Fault,
    Layout,
    LayoutConfig,
    LayoutDiff,
    LayoutReading,
    LayoutText,
    LayoutTransition,
    NewLayout,
    Zone,
)
from voelgoed.seating.model.refusals import (
    InvalidLayout,
    InvalidLayoutTransition,
    LayoutNotDraft,
    LayoutNotFound,
    PolicyForbids,
)
from voelgoed.seating.rules.diff import diff
from voelgoed.seating.rules.lifecycle import NEXT, may_become
from voelgoed.seating.rules.policy import zone_faults
from voelgoed.seating.rules.validation import check_config
from voelgoed.seating.rules.validation_shapes import FAULTS_MAX
from voelgoed.seating.store import layouts as store

log = structlog.get_logger()

encoder = msgspec.json.Encoder()

DRAFTS: dict[str, Callable[[str], Draft]] = {"text": draft_of_text, "csv": draft_of_csv}


async def create_layout(
    database: Database, caller: Caller, venue_id: UUID, new: NewLayout, key: IdempotencyKey | None
) -> Layout:
    config = await checked(new.config)
    async with database.transaction(caller.organization_id) as tx:
        await venue_of(tx, venue_id)

        async def create() -> Layout:
            layout_id = new_id()
            return await _insert(tx, caller, venue_id, (layout_id, layout_id), 1, new, config)

        return await once(tx, key, Layout, create)


async def create_version(
    database: Database, caller: Caller, layout_id: UUID, new: NewLayout, key: IdempotencyKey | None
) -> Layout:
    """The next version of the same layout; an active one supersedes what was active."""
    config = await checked(new.config)
    async with database.transaction(caller.organization_id) as tx:
        before = await layout_of(tx, layout_id)

        async def create() -> Layout:
            latest = await store.lock_lineage(tx, before.lineage_id)
            ids = (new_id(), before.lineage_id)
            return await _insert(tx, caller, before.venue_id, ids, latest + 1, new, config)

        return await once(tx, key, Layout, create)


async def _insert(
    tx: Transaction,
    caller: Caller,
    venue_id: UUID,
    ids: tuple[UUID, UUID],
    version: int,
    new: NewLayout,
    config: LayoutConfig,
) -> Layout:
    if faults := await whitelist_faults(tx, config.zones):
        raise InvalidLayout(faults=faults)
    if faults := zone_faults(config.zones, await policy_of(tx)):
        raise PolicyForbids(faults=faults)
    layout_id, lineage_id = ids
    written = await asyncio.to_thread(encoder.encode, config)
    text = await asyncio.to_thread(canonical, await store.as_kept(tx, written))
    layout = Layout(
        id=layout_id,
        lineage_id=lineage_id,
        venue_id=venue_id,
        name=new.name,
        description=new.description,
        version=version,
        status=new.status,
        total_capacity=sum(zone.capacity for zone in config.zones),
        seat_count=sum(len(zone.seats) for zone in config.zones),
        config_hash=sha256(text).hexdigest(),
        created_at=tx.now,
        updated_at=tx.now,
    )
    superseded = None
    if layout.status == "active":
        superseded = await store.archive_active(tx, lineage_id)
    await store.insert_layout(tx, layout, text)
    changes: dict[str, object] = {
        "name": layout.name,
        "version": version,
        "seats": layout.seat_count,
        "superseded": superseded,
    }
    await record(tx, caller, "layout_created", "Layout", layout.id, changes)
    log.info(
        "layout_version_changed",
        org_id=str(caller.organization_id),
        venue_id=str(venue_id),
        layout_id=str(layout.id),
        version_before=version - 1 or None,
        version_after=version,
        superseded=superseded and str(superseded),
    )
    return layout


async def checked(given: object) -> LayoutConfig:
    """In a thread: a stadium takes a moment, and gates are waiting."""
    config, faults = await asyncio.to_thread(check_config, given)
    if config is None or faults:
        raise InvalidLayout(faults=faults)
    return config


async def check_layout(database: Database, caller: Caller, given: object) -> list[Fault]:
    """Every fault that creating this layout would be refused for."""
    config, faults = await asyncio.to_thread(check_config, given)
    return faults if config is None else await _tenant_faults(database, caller, config)


async def read_text(database: Database, caller: Caller, given: LayoutText) -> LayoutReading:
    """Of a layout in words or in a table, everything at once, as far as it can be read."""
    draft = await asyncio.to_thread(DRAFTS[given.form], given.text)
    config, faults = await asyncio.to_thread(draft.finish)
    if config is not None:
        found = await _tenant_faults(database, caller, config)
        faults = [draft.explained(fault) for fault in found]
    return LayoutReading(draft.builtins(), faults[:FAULTS_MAX])


async def _tenant_faults(database: Database, caller: Caller, config: LayoutConfig) -> list[Fault]:
    """Of a sound layout, what this organisation has against it."""
    async with database.transaction(caller.organization_id) as tx:
        faults = await whitelist_faults(tx, config.zones)
        return faults + zone_faults(config.zones, await policy_of(tx))


async def whitelist_faults(tx: Transaction, zones: Sequence[Zone]) -> list[Fault]:
    missing = await unknown_whitelists(tx, zones)
    return [
        Fault(f"$.zones[{number}].whitelist_id", "names no whitelist of this organisation")
        for number, zone in enumerate(zones)
        if zone.whitelist_id in missing
    ]


async def unknown_whitelists(tx: Transaction, zones: Sequence[Zone]) -> set[UUID]:
    """Those that the zones name and the organisation does not have."""
    named = {zone.whitelist_id for zone in zones if zone.whitelist_id is not None}
    return named - await existing_whitelists(tx, named)


async def list_layouts(
    database: Database, caller: Caller, venue_id: UUID, after: UUID | None, limit: int
) -> list[Layout]:
    async with database.transaction(caller.organization_id) as tx:
        await venue_of(tx, venue_id)
        return await store.list_layouts(tx, venue_id, after, limit)


async def read_layout(database: Database, caller: Caller, layout_id: UUID) -> Layout:
    async with database.transaction(caller.organization_id) as tx:
        return await layout_of(tx, layout_id)


async def move_layout(
    database: Database, caller: Caller, layout_id: UUID, transition: LayoutTransition
) -> Layout:
    """Activate a draft, or archive what no new event should use."""
    async with database.transaction(caller.organization_id) as tx:
        await store.lock_lineage(tx, (await layout_of(tx, layout_id)).lineage_id)
        before = await layout_of(tx, layout_id)
        if before.status == transition.to:
            return before
        if not may_become(before.status, transition.to):
            raise InvalidLayoutTransition(status=before.status, allowed=sorted(NEXT[before.status]))
        superseded = None
        if transition.to == "active":
            superseded = await store.archive_active(tx, before.lineage_id)
        if not await store.set_status(tx, layout_id, before.status, transition.to):
            raise VersionConflict()
        changes: dict[str, object] = {
            "status": {"from": before.status, "to": transition.to},
            "superseded": superseded,
        }
        await record(tx, caller, "layout_moved", "Layout", layout_id, changes)
        return await layout_of(tx, layout_id)


async def delete_layout(database: Database, caller: Caller, layout_id: UUID) -> None:
    async with database.transaction(caller.organization_id) as tx:
        layout = await layout_of(tx, layout_id)
        if not await store.delete_layout(tx, layout_id):
            raise LayoutNotDraft(status=layout.status)
        await record(tx, caller, "layout_deleted", "Layout", layout_id, {"name": layout.name})


async def read_config(database: Database, caller: Caller, layout_id: UUID) -> LayoutConfig:
    async with database.transaction(caller.organization_id) as tx:
        return await config_of(tx, layout_id)


async def compare_layouts(
    database: Database, caller: Caller, before_id: UUID, after_id: UUID
) -> LayoutDiff:
    async with database.transaction(caller.organization_id) as tx:
        before, after = await config_of(tx, before_id), await config_of(tx, after_id)
    return await asyncio.to_thread(diff, before, after)


async def layout_of(tx: Transaction, layout_id: UUID) -> Layout:
    layout = await store.find_layout(tx, layout_id)
    if layout is None:
        raise LayoutNotFound()
    return layout


async def config_of(tx: Transaction, layout_id: UUID) -> LayoutConfig:
    text = await store.find_config(tx, layout_id)
    if text is None:
        raise LayoutNotFound()
    return await asyncio.to_thread(msgspec.json.decode, text, type=LayoutConfig)
