"""Everything sold and held at an event, page by page: whoever reads slowly keeps nobody waiting."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import get_args
from uuid import UUID

import msgspec

from voelgoed.accounts.model import Caller
from voelgoed.events.actions.events import event_of
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database, Transaction
from voelgoed.infra.tables import header_of, rows_of, table
from voelgoed.seating.actions.views import View, see_any
from voelgoed.seating.model.refusals import EventLayoutNotFound
from voelgoed.ticketing.forms.exports import json_rows
from voelgoed.ticketing.model.exports import (
    Exported,
    ExportedHold,
    ExportedOrder,
    ExportedTicket,
    ExportNotFound,
    Form,
    Subject,
)
from voelgoed.ticketing.store import exports as store
from voelgoed.ticketing.store.imports import list_faults

PAGE_ROWS = 1_000
BEFORE_ALL = UUID(int=0)

Read = Callable[[Transaction, UUID, UUID, int], Awaitable[Sequence[Exported]]]
SUBJECTS: dict[Subject, tuple[type[Exported], Read]] = {
    "orders": (ExportedOrder, store.list_orders),
    "tickets": (ExportedTicket, store.list_tickets),
    "holds": (ExportedHold, store.list_holds),
}


def export_named(what: str) -> tuple[Subject, Form]:
    """Of a file's name, such as `tickets.csv`."""
    for subject in SUBJECTS:
        for form in get_args(Form):
            if what == f"{subject}.{form}":
                return subject, form
    raise ExportNotFound()


async def export(
    database: Database, cache: Cache, caller: Caller, event_id: UUID, what: str
) -> AsyncIterator[bytes]:
    """Refuses before the first byte; what is sold after that may or may not be in it."""
    subject, form = export_named(what)
    shape, read = SUBJECTS[subject]
    async with database.transaction(caller.organization_id) as tx:
        await event_of(tx, event_id)
    names = _Names(await _view(database, cache, caller, event_id))

    async def pages() -> AsyncIterator[Sequence[Exported]]:
        after = BEFORE_ALL
        while True:
            async with database.transaction(caller.organization_id) as tx:
                rows = await read(tx, event_id, after, PAGE_ROWS)
            yield [names.put_into(row) for row in rows]
            if len(rows) < PAGE_ROWS:
                return
            after = rows[-1].id

    return _as_csv(shape, pages()) if form == "csv" else _as_json(pages())


async def _as_csv(
    shape: type[Exported], pages: AsyncIterator[Sequence[Exported]]
) -> AsyncIterator[bytes]:
    yield header_of(shape)
    async for rows in pages:
        yield rows_of(rows)


async def _as_json(pages: AsyncIterator[Sequence[Exported]]) -> AsyncIterator[bytes]:
    yield b"["
    first = True
    async for rows in pages:
        yield json_rows(rows, first=first)
        first = False
    yield b"]\n"


async def _view(database: Database, cache: Cache, caller: Caller, event_id: UUID) -> View | None:
    try:
        return await see_any(database, cache, caller.organization_id, event_id)
    except EventLayoutNotFound:
        return None


class _Names:
    """Of zones and seats, for their ids; what the layout has no longer keeps its id."""

    def __init__(self, view: View | None) -> None:
        zones = view.zones if view else ()
        self._zones = {str(zone.zone.zone_id): zone.zone.name for zone in zones}
        self._plan = view.plan if view else None

    def put_into(self, row: Exported) -> Exported:
        if isinstance(row, ExportedOrder) or row.zone is None:
            return row
        named = msgspec.structs.replace(row, zone=self._zones.get(row.zone, row.zone))
        if isinstance(named, ExportedTicket) or named.seat is None or self._plan is None:
            return named
        position = self._plan.find(named.seat)
        if position is None:
            return named
        return msgspec.structs.replace(named, seat=self._plan.seats[position].seat_id)


async def faults_table(database: Database, caller: Caller, import_id: UUID) -> AsyncIterator[bytes]:
    """Of an import of tickets."""
    yield table([("line", "field", "message")]).encode()
    after = 0
    while True:
        async with database.transaction(caller.organization_id) as tx:
            faults = await list_faults(tx, import_id, after, PAGE_ROWS)
        yield table(
            (each.fault.line, each.fault.field, each.fault.message) for each in faults
        ).encode()
        if len(faults) < PAGE_ROWS:
            return
        after = faults[-1].number
