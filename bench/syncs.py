"""Offline scans that devices deliver later: a whole queue at once, signed batches from many devices while
other gates are online, and all devices at once after an outage."""

import asyncio
import itertools
import json
import re
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import asyncpg
import httpx
import msgspec
import uvloop

from bench.holds import seated_event
from bench.http import free_port
from bench.load import Load, cpu_seconds, post, run_each
from bench.scans import Device, a_device, a_gate, tickets_of
from bench.stage import MASTER_KEY, Stage, a_process, a_stage
from voelgoed.config import Settings
from voelgoed.events.actions.events import move_event
from voelgoed.events.model import Transition
from voelgoed.infra.ids import new_id
from voelgoed.infra.log import configure_logs
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.rules.scan_signatures import SignedFields, sign_scan
from voelgoed.seating.actions.views import see
from voelgoed.services import build_services, running
from voelgoed.ticketing.rules.codes import dashed

GATES, DEVICES, ONLINE_DEVICES = 10, 50, 10
SINGLE = 1_000
QUEUES = {1_000: 7, 10_000: 3}
"""The number of scans, and the number of rounds."""
BATCH = 50
BATCHES_PER_S, SUSTAINED_S = 100, 60
ONLINE_PER_S = 100
QUEUED = 400
RESYNC_S_MAX = 120.0
HIGH_WATER = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass(frozen=True)
class Ticket:
    id: UUID
    code: str
    barcode: str
    barcode_hash: str


@dataclass(frozen=True)
class Hall:
    event_id: UUID
    devices: list[Device]
    tickets: list[Ticket]


def main() -> None:
    configure_logs("error", "json")
    queues()
    sustained()
    resync()


def queues() -> None:
    """`POST /api/scans/sync`, beside the same sent one by one."""
    count = SINGLE + sum(size * times for size, times in QUEUES.items())
    with a_stage() as stage:
        hall = uvloop.run(furnish(stage, count))
        with _server(stage) as (port, server):
            tickets = iter(hall.tickets)
            device = hall.devices[0]
            some = list(itertools.islice(tickets, SINGLE))
            load = run_each(
                port, [_single(device, each) for each in some], connections=1, wanted=b" 200 "
            )
            _require(load, SINGLE)
            singly = SINGLE / load.seconds
            for size, times in QUEUES.items():
                bodies = [
                    _queue(device, list(itertools.islice(tickets, size))) for _ in range(times)
                ]
                before = _reset_high_water(server)
                cpu = cpu_seconds(server), cpu_seconds(stage.postmaster)
                loads = [run_each(port, [body], connections=1, wanted=b" 200 ") for body in bodies]
                cpu = [
                    (after - since) / size / times * 1e6
                    for after, since in zip(
                        (cpu_seconds(server), cpu_seconds(stage.postmaster)), cpu, strict=True
                    )
                ]
                for each in loads:
                    _require(each, 1)
                seconds = statistics.median(each.seconds for each in loads)
                figures = {
                    "bench": "syncs",
                    "case": f"queue_of_{size}",
                    "seconds": round(seconds, 3),
                    "worst_s": round(max(each.seconds for each in loads), 3),
                    "scans_per_s": round(size / seconds),
                    "singly_per_s": round(singly),
                    "ratio_to_singly": round(size / seconds / singly, 1),
                    "more_memory_mb": round((_high_water(server) - before) / 1024, 1),
                    "server_cpu_us": round(cpu[0]),
                    "postgres_cpu_us": round(cpu[1]),
                }
                print(json.dumps(figures))
        _require_kept(stage, count)


def sustained() -> None:
    """`POST /api/scanning/sync` from fifty devices, while other gates are online."""
    batches, online = BATCHES_PER_S * SUSTAINED_S, ONLINE_PER_S * SUSTAINED_S
    with a_stage() as stage:
        hall = uvloop.run(furnish(stage, batches * BATCH + 2 * online))
        tickets = iter(hall.tickets)
        bodies = [
            _signed(device, list(itertools.islice(tickets, BATCH)))
            for _, device in zip(range(batches), itertools.cycle(hall.devices), strict=False)
        ]
        at_gates = [
            _single(device, each)
            for device, each in zip(
                itertools.cycle(hall.devices[:ONLINE_DEVICES]), tickets, strict=False
            )
        ]
        with _server(stage, VOELGOED_SYNC_BATCHES_PER_MINUTE_MAX="100000") as (port, server):
            quiet = run_each(
                port,
                at_gates[:online],
                connections=ONLINE_DEVICES,
                wanted=b" 200 ",
                per_s=ONLINE_PER_S,
            )
            _require(quiet, online)
            before = cpu_seconds(server), cpu_seconds(stage.postmaster)
            with ThreadPoolExecutor(1) as pool:
                busy = pool.submit(
                    run_each,
                    port,
                    at_gates[online : 2 * online],
                    connections=ONLINE_DEVICES,
                    wanted=b" 200 ",
                    per_s=ONLINE_PER_S,
                )
                load = run_each(
                    port, bodies, connections=DEVICES, wanted=b" 200 ", per_s=BATCHES_PER_S
                )
                gates = busy.result()
            after = cpu_seconds(server), cpu_seconds(stage.postmaster)
            _require(load, batches)
            _require(gates, online)
        _require_kept(stage, batches * BATCH + 2 * online)
        figures = {
            "bench": "syncs",
            "case": "signed_batches_of_50_from_50_devices",
            "batches_per_s": round(load.requests / load.seconds, 1),
            "wanted_per_s": BATCHES_PER_S,
            "seconds": round(load.seconds, 1),
            "p50_ms": load.percentile_ms(50),
            "p95_ms": load.percentile_ms(95),
            "p99_ms": load.percentile_ms(99),
            "server_cpu_us_per_scan": round((after[0] - before[0]) / (batches * BATCH) * 1e6),
            "postgres_cpu_us_per_scan": round((after[1] - before[1]) / (batches * BATCH) * 1e6),
            "online_p99_ms": gates.percentile_ms(99),
            "online_p99_ms_without": quiet.percentile_ms(99),
            "ratio_online_p99": round(gates.percentile_ms(99) / quiet.percentile_ms(99), 1),
        }
        print(json.dumps(figures))


def resync() -> None:
    """All devices deliver at once after an outage, each as often as it may."""
    with a_stage() as stage:
        hall = uvloop.run(furnish(stage, DEVICES * QUEUED))
        with _server(stage) as (port, _):
            resynced = uvloop.run(_resync(port, hall))
        _require_kept(stage, DEVICES * QUEUED)
    print(json.dumps({"bench": "syncs", "case": "mass_resync_50_devices_400_scans"} | resynced))


async def _resync(port: int, hall: Hall) -> dict[str, object]:
    statuses: dict[int, int] = {}
    latencies: list[float] = []
    limits = httpx.Limits(max_connections=DEVICES)
    begun = time.perf_counter()
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", limits=limits, timeout=30, verify=False
    ) as client:

        async def drain(device: Device, tickets: Sequence[Ticket]) -> None:
            for at in range(0, len(tickets), BATCH):
                body = _signed_body(device, tickets[at : at + BATCH])
                headers = {
                    "Authorization": f"Bearer {device.api_key}",
                    "Content-Type": "application/json",
                }
                while True:
                    sent = time.perf_counter()
                    answer = await client.post("/api/scanning/sync", content=body, headers=headers)
                    latencies.append(time.perf_counter() - sent)
                    statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
                    if answer.status_code == 200:
                        break
                    if answer.status_code != 429:
                        raise RuntimeError(answer.text)
                    await asyncio.sleep(float(answer.headers["Retry-After"]))

        async with asyncio.timeout(RESYNC_S_MAX):
            await asyncio.gather(
                *(
                    drain(device, hall.tickets[n * QUEUED :][:QUEUED])
                    for n, device in enumerate(hall.devices)
                )
            )
    seconds = time.perf_counter() - begun
    return {
        "seconds": round(seconds, 1),
        "scans_per_s": round(DEVICES * QUEUED / seconds),
        "statuses": statuses,
        "p95_ms": round(statistics.quantiles(latencies, n=100)[94] * 1000, 1),
    }


class _server:
    """A server that forgets nothing that it is asked to keep."""

    def __init__(self, stage: Stage, **settings: str) -> None:
        self._port = free_port()
        serve = ("-m", "voelgoed", "serve", "--port", str(self._port), "--no-jobs")
        given = {"VOELGOED_DATABASE_URL": stage.postgres.url(), "VOELGOED_LOG_LEVEL": "error"}
        self._process = a_process(self._port, None, *serve, **given | settings)

    def __enter__(self) -> tuple[int, int]:
        return self._port, self._process.__enter__()

    def __exit__(self, *fault: object) -> None:
        self._process.__exit__(None, None, None)


def _single(device: Device, ticket: Ticket) -> bytes:
    body = {
        "ticket_code": ticket.barcode,
        "device_id": device.id,
        "scanned_at": datetime.now(UTC),
        "scan_id": new_id(),
    }
    return post("/api/scans", device.headers, msgspec.json.encode(body))


def _queue(device: Device, tickets: Sequence[Ticket]) -> bytes:
    begun = datetime.now(UTC) - timedelta(hours=1)
    body = {
        "batch_id": new_id(),
        "device_id": device.id,
        "batch_created_at": datetime.now(UTC),
        "batch_size": len(tickets),
        "scans": [
            {
                "ticket_code": each.barcode,
                "scanned_at": begun + timedelta(seconds=at / 5),
                "offline_id": new_id(),
            }
            for at, each in enumerate(tickets)
        ],
    }
    return post("/api/scans/sync", device.headers, msgspec.json.encode(body))


def _signed(device: Device, tickets: Sequence[Ticket]) -> bytes:
    return post("/api/scanning/sync", device.headers, _signed_body(device, tickets))


def _signed_body(device: Device, tickets: Sequence[Ticket]) -> bytes:
    begun = datetime.now(UTC) - timedelta(minutes=30)
    scans: list[dict[str, object]] = []
    for at, ticket in enumerate(tickets):
        fields = SignedFields(
            scan_id=str(new_id()),
            ticket_id=str(ticket.id),
            barcode_hash=ticket.barcode_hash,
            scanned_at=(begun + timedelta(seconds=at)).isoformat(),
            gate_id=str(device.gate_id),
        )
        scans.append(
            msgspec.structs.asdict(fields)
            | {"outcome": "valid", "signature": sign_scan(fields, device.api_key)}
        )
    body = {
        "device_id": device.id,
        "sync_batch_id": new_id(),
        "offset_seconds": 0,
        "scans": scans,
    }
    return msgspec.json.encode(body)


def _require(load: Load, requests: int) -> None:
    if load.wrong or load.requests != requests:
        raise RuntimeError(f"{load.wrong} of {load.requests} failed")


def _require_kept(stage: Stage, scans: int) -> None:
    """Nothing is lost, nothing is stored twice, and everybody is admitted."""
    asyncio.run(_count(stage, scans))


async def _count(stage: Stage, scans: int) -> None:
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    kept = await admin.fetchval("SELECT count(*) FROM scan WHERE status = 'admitted'")
    inside = await admin.fetchval("SELECT sum(inside) FROM occupancy WHERE scope = 'event'")
    await admin.close()
    if not kept == inside == scans:
        raise RuntimeError(f"{kept} scans and {inside} inside instead of {scans}")


def _reset_high_water(process: int) -> int:
    Path(f"/proc/{process}/clear_refs").write_text("5")
    return _high_water(process)


def _high_water(process: int) -> int:
    """The greatest memory of the process, in kB."""
    found = HIGH_WATER.search(Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1])


async def furnish(stage: Stage, tickets: int) -> Hall:
    services = build_services(Settings(), stage.postgres.url(), master_key=MasterKey(MASTER_KEY))
    database, caller = services.database, stage.caller
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    async with running(services, with_jobs=False):
        event_id = await seated_event(services, stage)
        await move_event(database, caller, event_id, Transition(to="live"))
        gates = [await a_gate(services, stage, event_id, number) for number in range(GATES)]
        devices = [await a_device(services, stage, gates[n % GATES]) for n in range(DEVICES)]
        view = await see(database, services.cache, caller, event_id)
        barcodes = await tickets_of(services, stage, admin, event_id, tickets, view)
    rows = await admin.fetch("SELECT id, code FROM ticket WHERE event_id = $1", event_id)
    # The event has begun, and the devices have been at its gates for days; otherwise the scans would not count.
    await admin.execute("UPDATE event_day SET starts_at = starts_at - interval '2 days'")
    await admin.execute("UPDATE device_assignment SET from_at = from_at - interval '2 days'")
    ids = {row["code"]: row["id"] for row in rows}
    await admin.execute("VACUUM ANALYZE")
    await admin.execute("CHECKPOINT")
    await admin.close()
    made = [
        Ticket(ids[code], code, text, f"sha256:{sha256(text.encode()).hexdigest()}")
        for text in barcodes
        if (code := dashed(text[3:15])) in ids
    ]
    return Hall(event_id, devices, made)
