from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.tables import header_of, rows_of
from voelgoed.reporting.actions.desk import ReportDesk, about
from voelgoed.reporting.model.about import ZonePlaces
from voelgoed.reporting.model.no_shows import (
    Came,
    DayNoShows,
    NoShow,
    NoShowReport,
    TypeNoShows,
    ZoneNoShows,
)
from voelgoed.reporting.rules.no_shows import CameFigures, came_figures
from voelgoed.reporting.rules.sales import without, zone_name
from voelgoed.reporting.store import no_shows as store
from voelgoed.reporting.store.no_shows import CameRow
from voelgoed.reporting.store.sales import list_types

PAGE_ROWS = 1_000


async def report_no_shows(desk: ReportDesk, caller: Caller, event_id: UUID) -> NoShowReport:
    zones = await desk.zones_of(caller, event_id)
    async with desk.reading(caller) as tx:
        event, _, told = await about(tx, event_id)
        counted = await store.count_came(tx, event_id)
        dates = [day.date for day in event.days]
        on_days = {each.day: each for each in await store.count_came_on_days(tx, event_id, dates)}
        types = await list_types(tx, event_id)
    [total] = [row for row in counted if row.part == "total"]
    by_type = {row.ticket_type_id: row for row in counted if row.part == "ticket_type"}
    return NoShowReport(
        **told,
        as_of=tx.now,
        is_over=event.ends_at <= tx.now,
        total=Came(**_figures(total)),
        ticket_types=[
            TypeNoShows(**_figures(by_type.get(each.id)), ticket_type_id=each.id, name=each.name)
            for each in types
        ],
        zones=_zones({row.zone_id: row for row in counted if row.part == "zone"}, zones),
        days=[
            DayNoShows(
                **_figures(on_days.get(day.date)),
                day=day.date,
                ends_at=day.ends_at,
                is_over=day.ends_at <= tx.now,
            )
            for day in event.days
        ],
    )


def _figures(row: CameRow | store.CameOnDay | None) -> CameFigures:
    return came_figures(0, 0) if row is None else came_figures(row.valid, row.came)


def _zones(found: dict[UUID | None, CameRow], zones: Sequence[ZonePlaces]) -> list[ZoneNoShows]:
    known = [
        ZoneNoShows(**_figures(found.get(zone.id)), zone_id=zone.id, name=zone.name)
        for zone in zones
    ]
    left = [
        ZoneNoShows(**_figures(found[each]), zone_id=each, name=zone_name(each))
        for each in without(found, zones)
    ]
    return known + left


async def list_no_shows(
    desk: ReportDesk, caller: Caller, event_id: UUID, after: UUID | None, limit: int
) -> list[NoShow]:
    zones = await desk.zones_of(caller, event_id)
    async with desk.database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
        found = await store.list_no_shows(tx, event_id, after, limit)
    return _named(found, zones)


async def no_shows_table(desk: ReportDesk, caller: Caller, event_id: UUID) -> AsyncIterator[bytes]:
    """All of them, page by page: who reads slowly keeps nobody waiting, and who comes in meanwhile may
    or may not be in it. Refuses before the first byte."""
    zones = await desk.zones_of(caller, event_id)
    async with desk.database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)

    async def pages() -> AsyncIterator[bytes]:
        yield header_of(NoShow)
        after, rows = None, [None] * PAGE_ROWS
        while len(rows) == PAGE_ROWS:
            async with desk.database.transaction(caller.organization_id) as tx:
                rows = await store.list_no_shows(tx, event_id, after, PAGE_ROWS)
            yield rows_of(_named(rows, zones))
            after = rows[-1].id if rows else None

    return pages()


def _named(found: Sequence[NoShow], zones: Sequence[ZonePlaces]) -> list[NoShow]:
    names = {str(zone.id): zone.name for zone in zones}
    return [
        msgspec.structs.replace(each, zone=names.get(each.zone, each.zone) if each.zone else None)
        for each in found
    ]
