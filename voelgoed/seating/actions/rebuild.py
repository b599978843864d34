"""Caches made anew from PostgreSQL, and the figures that operators watch."""

from contextlib import suppress
from uuid import UUID

import structlog

from voelgoed.accounts.model import Caller
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
from voelgoed.infra.metrics import seating_figure
from voelgoed.infra.refusal import Refusal
from voelgoed.seating.actions.questions import Questions
from voelgoed.seating.actions.seats import drop_caches
from voelgoed.seating.actions.views import bitmap_key, snapshot_in, snapshot_of
from voelgoed.seating.model.seats import SeatingReport, Snapshot
from voelgoed.seating.store.event_layouts import selling_events

log = structlog.get_logger()


async def rebuild_all(database: Database, cache: Cache) -> tuple[int, int]:
    """Events seen, and how many of them had a cache that differed from PostgreSQL."""
    events = wrong = 0
    for organization_id in await database.organization_ids():
        for event_id in await events_on_sale(database, organization_id):
            events += 1
            wrong += not await rebuild_event(database, cache, organization_id, event_id)
    return events, wrong


async def events_on_sale(database: Database, organization_id: UUID) -> list[UUID]:
    async with database.transaction(organization_id) as tx:
        return await selling_events(tx)


async def rebuild_event(
    database: Database, cache: Cache, organization_id: UUID, event_id: UUID
) -> bool:
    """Whether what Redis said was true. In every process the caches are made anew, right or
    wrong: one that ended between a commit and its drop has told nobody."""
    async with database.transaction(organization_id) as tx:
        before = await snapshot_in(tx, event_id)
    cache.forget([bitmap_key(organization_id, event_id)])  # our memory would hide what Redis says
    cached = await snapshot_of(database, cache, organization_id, event_id)
    async with database.transaction(organization_id) as tx:
        after = await snapshot_in(tx, event_id)
        drop_caches(tx, event_id)
    right = _content(cached) in (_content(before), _content(after))
    if not right:
        log.warning("seat_cache_rebuilt", org_id=str(organization_id), event_id=str(event_id))
    await snapshot_of(database, cache, organization_id, event_id)
    return right


def _content(snapshot: Snapshot) -> tuple[object, ...]:
    """Without its number, which says how old it may be, and in whatever order."""
    return (
        snapshot.layout_id,
        snapshot.held,
        snapshot.held_until,
        _in_order(snapshot.sold),
        _in_order(snapshot.blocked),
        _in_order(snapshot.sold_blocked),
    )


def _in_order(positions: bytes) -> list[bytes]:
    return sorted(positions[at : at + 4] for at in range(0, len(positions), 4))


async def publish_figures(database: Database, cache: Cache) -> None:
    """Of every event on sale, with a warning in the log for what is out of the ordinary."""
    seating_figure.clear()  # of events that are over
    for organization_id in await database.organization_ids():
        system = Caller(kind="system", id=None, organization_id=organization_id)
        for event_id in await events_on_sale(database, organization_id):
            with suppress(Refusal):  # it ended, or lost its layout, since it was listed
                report = await Questions(database, cache, system, event_id).report()
                _publish(organization_id, report)


def _publish(organization_id: UUID, report: SeatingReport) -> None:
    for figure in ("orphan_ratio", "vip_utilisation", "accessibility_utilisation"):
        value = getattr(report, figure)
        if value is not None:
            seating_figure.labels(str(report.event_id), figure).set(value)
    if report.unusual:
        log.warning(
            "seating_figures_unusual",
            org_id=str(organization_id),
            event_id=str(report.event_id),
            figures=report.unusual,
        )
