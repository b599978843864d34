"""100,000 tickets sold elsewhere, from a file to signed tickets, against a bare COPY of the same rows."""

import gc
import json
import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from random import Random
from uuid import UUID

import asyncpg
import msgspec
import uvloop

from bench.load import cpu_seconds
from bench.stage import MASTER_KEY, Stage, a_stage
from voelgoed.config import Settings
from voelgoed.events.actions.events import create_event
from voelgoed.events.actions.venues import list_venues
from voelgoed.events.model import NewEvent
from voelgoed.infra.log import configure_logs
from voelgoed.infra.master_key import MasterKey
from voelgoed.seating.actions.event_layouts import put_event_layout
from voelgoed.seating.actions.layouts import create_layout
from voelgoed.seating.actions.views import see
from voelgoed.seating.model.event_layout import NewEventLayout
from voelgoed.seating.model.layout import NewLayout
from voelgoed.seating.samples import stadium
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.actions.exports import export
from voelgoed.ticketing.actions.import_batch import Context
from voelgoed.ticketing.actions.import_run import run_import
from voelgoed.ticketing.actions.imports import ImportJob, Upload, read_import, receive_file
from voelgoed.ticketing.actions.ticket_types import create_ticket_type
from voelgoed.ticketing.model.imports import TicketImport
from voelgoed.ticketing.model.ticket_types import NewTicketType, Price
from voelgoed.ticketing.rules.codes import code_from

SEATS = 50_000
PLACES = 50_000
PIECE_BYTES = 64 * 1024
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    configure_logs("error", "json")
    with a_stage() as stage:
        uvloop.run(_run(stage))


async def _run(stage: Stage) -> None:
    services = build_services(Settings(), stage.postgres.url(), master_key=MasterKey(MASTER_KEY))
    async with running(services, with_jobs=False):
        event_id, file = await _furnish(services, stage)
        warm = b"".join(file.splitlines(keepends=True)[:101])
        await _import(services, stage, event_id, warm, "warm", dry_run=True)
        await _import(services, stage, event_id, file, "dry_run", dry_run=True)
        seconds = await _import(services, stage, event_id, file, "new")
        copied = await _copy(stage)
        rows = SEATS + PLACES
        _print(
            case="bare_copy", rows=rows, seconds=round(copied, 2), ratio=round(seconds / copied, 1)
        )
        await _import(services, stage, event_id, file, "again")
        for what in ("tickets.csv", "tickets.json"):
            await _export(services, stage, event_id, what)


async def _import(
    services: Services,
    stage: Stage,
    event_id: UUID,
    file: bytes,
    case: str,
    *,
    dry_run: bool = False,
) -> float:
    caller, database = stage.caller, services.database
    context = Context(database, services.cache, services.master_key)
    upload = Upload(event_id=event_id, file_name="bench.csv", dry_run=dry_run, by_job=False)
    before = cpu_seconds(os.getpid()), cpu_seconds(stage.postmaster)
    begun = time.perf_counter()
    with _watched() as growth:
        received = await receive_file(database, caller, upload, _pieces(file))
        received_s = time.perf_counter() - begun
        await run_import(context, ImportJob(caller.organization_id, received.id))
    seconds = time.perf_counter() - begun
    after = cpu_seconds(os.getpid()), cpu_seconds(stage.postmaster)
    done = await read_import(database, caller, received.id)
    _check(done)
    if case != "warm":
        _print(
            case=case,
            rows=done.rows_total,
            file_mb=round(len(file) / 1e6, 1),
            seconds=round(seconds, 2),
            of_which_receiving=round(received_s, 2),
            rows_per_s=round((done.rows_total or 0) / seconds),
            python_cpu_s=round(after[0] - before[0], 1),
            postgres_cpu_s=round(after[1] - before[1], 1),
            peak_rss_growth_mb=round(growth[0] / 1e6, 1),
        )
    return seconds


async def _export(services: Services, stage: Stage, event_id: UUID, what: str) -> None:
    begun, size = time.perf_counter(), 0
    with _watched() as growth:
        content = await export(services.database, services.cache, stage.caller, event_id, what)
        async for piece in content:
            size += len(piece)
    seconds = time.perf_counter() - begun
    _print(
        case=f"export_{what}",
        file_mb=round(size / 1e6, 1),
        seconds=round(seconds, 2),
        rows_per_s=round((SEATS + PLACES) / seconds),
        peak_rss_growth_mb=round(growth[0] / 1e6, 1),
    )


def _check(done: TicketImport) -> None:
    if done.status != "done" or done.faulty:
        raise RuntimeError(f"not all of it was imported: {done}")


async def _pieces(file: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(file), PIECE_BYTES):
        yield file[at : at + PIECE_BYTES]


@contextmanager
def _watched() -> Iterator[list[int]]:
    """How much more memory this process had at its worst moment than at the beginning."""
    gc.collect()
    begin, growth, over = _rss(), [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            growth[0] = max(growth[0], _rss() - begin)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield growth
    finally:
        over.set()
        thread.join()


def _rss() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


async def _copy(stage: Stage) -> float:
    """As fast as PostgreSQL takes rows: no index, no constraint, no wall, one transaction."""
    connection = await asyncpg.connect(stage.postgres.url("postgres", "voelgoed"))
    try:
        await connection.execute("CREATE TABLE bare (LIKE ticket)")
        rows = BytesIO()
        await connection.copy_from_query("SELECT * FROM ticket", output=rows)
        rows.seek(0)
        begun = time.perf_counter()
        await connection.copy_to_table("bare", source=rows)
        return time.perf_counter() - begun
    finally:
        await connection.close()


async def _furnish(services: Services, stage: Stage) -> tuple[UUID, bytes]:
    database, cache, caller = services.database, services.cache, stage.caller
    [venue] = await list_venues(database, caller, None, 1)
    now = services.clock.now()
    new = NewEvent(
        venue_id=venue.id,
        name="Final",
        starts_at=now + timedelta(days=1),
        ends_at=now + timedelta(days=1, hours=3),
        capacity=SEATS + PLACES,
    )
    event = await create_event(database, caller, new, None)
    config = msgspec.to_builtins(stadium(SEATS), str_keys=True)
    pitch = {"zone_id": str(UUID(int=1)), "zone_type": "ga_standing", "name": "Pitch"}
    config["zones"].append(pitch | {"capacity": PLACES})
    config.pop("total_capacity", None)
    layout = await create_layout(
        database, caller, venue.id, NewLayout(name="S", config=config), None
    )
    await put_event_layout(database, cache, caller, event.id, NewEventLayout(layout_id=layout.id))
    for name, kind in (("Seat", "seated"), ("Resolution", "ga")):
        ticket_type = NewTicketType(
            name=name, kind=kind, currency="ZAR", prices=[Price(amount_minor=1)]
        )
        await create_ticket_type(database, cache, caller, event.id, ticket_type, None)
    view = await see(database, cache, caller, event.id)
    return event.id, _file([seat.seat_id for seat in view.plan.seats])


def _file(seats: list[str]) -> bytes:
    """As a ticket shop would write it."""
    random = Random(7)
    places = [("Seat", "", seat) for seat in seats] + [("Resolution", "Pitch", "")] * PLACES
    lines = ["code,type,zone,seat,name,email,reference,price_minor"]
    for number, (kind, zone, seat) in enumerate(places):
        code = code_from(random.randbytes(8))
        person = f"Somebody Number {number},somebody{number}@people.example"
        lines.append(f"{code},{kind},{zone},{seat},{person},ORDER-{number // 3},{45_000}")
    return "\r\n".join(lines).encode() + b"\r\n"


def _print(**figures: object) -> None:
    print(json.dumps({"bench": "imports", **figures}), flush=True)


if __name__ == "__main__":
    main()
