"""The manifest: built, served from memory, as a delta; compared with JSON made in Python for each
request."""

import json
import statistics
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

import asyncpg
import httpx
import msgspec
import uvloop

from bench.http import free_port
from bench.load import cpu_seconds
from bench.stage import MASTER_KEY, Stage, a_process, a_stage
from voelgoed.accounts.model import Origin
from voelgoed.config import Settings
from voelgoed.events.actions.gates import create_gate
from voelgoed.events.model import NewGate
from voelgoed.infra.ids import new_id
from voelgoed.infra.log import configure_logs
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.actions.devices import create_pairing, pair
from voelgoed.scanning.model.devices import NewPairing, Pair
from voelgoed.scanning.rules.manifest import sign, verify
from voelgoed.services import Services, build_services, running

FEW, MANY = 20_000, 200_000
CHANGES = 100
TIMES = 20
ENCODINGS = ("zstd", "br", "gzip")

TYPE = """
INSERT INTO ticket_type (organization_id, id, event_id, number, name, description, kind, entitlement,
                         gate_ids, reentry, currency, prices, sold_by, status, created_at, updated_at)
VALUES ($1, $2, $3, 1, 'Standard', '', 'ga', 'single_entry', $4, 'allowed', 'ZAR', '[]', 'staff',
        'on_sale', now(), now())
"""
TICKETS = """
INSERT INTO ticket (organization_id, id, event_id, code, barcode_hash, key_number, status,
                    ticket_type_id, zone_id, seat_label, days, zone_number, days_mask, created_at,
                    updated_at)
SELECT $1, uuidv7(), $2, upper(concat_ws('-', substr(hash, 1, 4), substr(hash, 5, 4),
       substr(hash, 9, 4))), sha256(hash::bytea), 1, 'active', $3, $4, 'A-' || number, '{}', 1, 0,
       now(), now()
  FROM (SELECT number, md5(number::text) AS hash FROM generate_series(1, $5::integer) AS number)
       AS drawn
"""
SCAN = """
UPDATE ticket SET status = 'scanned', scan_count = scan_count + 1, last_scanned_at = now(),
       last_entry_day = current_date, day_entries = 1, is_inside = true, last_gate_id = $2
 WHERE id IN (SELECT id FROM ticket WHERE event_id = $1 ORDER BY random() LIMIT $3)
"""
NAIVE = """
SELECT ticket.id, barcode_hash, zone_id, gate_ids, entry_limit, is_valid, code, ticket.status, issue,
       number, seat_label, scan_count, last_entry_day, day_entries, last_scanned_at, is_inside
  FROM ticket JOIN ticket_type ON ticket_type.id = ticket_type_id
 WHERE ticket.event_id = $1 ORDER BY ticket.id
"""


class Device(msgspec.Struct):
    api_key: str
    gate_id: UUID

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}"}


def main() -> None:
    configure_logs("error", "json")
    for tickets in (FEW, MANY):
        with a_stage() as stage:
            uvloop.run(_figures(stage, tickets))


async def _figures(stage: Stage, tickets: int) -> None:
    services = build_services(Settings(), stage.postgres.url(), master_key=MasterKey(MASTER_KEY))
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    async with running(services, with_jobs=False):
        device = await _furnish(services, stage, admin, tickets)
        naive_s = await _median(lambda: _naive(admin, stage, device), 3)
        await _build(services, stage, admin, device, tickets, naive_s)
        await _serve(services, stage, admin, device, tickets, naive_s)
    await admin.close()


async def _build(
    services: Services,
    stage: Stage,
    admin: "asyncpg.Connection[asyncpg.Record]",
    device: Device,
    tickets: int,
    naive_s: float,
) -> None:
    organization_id, event_id = stage.caller.organization_id, UUID(stage.event_id)

    async def refresh() -> float:
        begun = time.perf_counter()
        await services.manifests.refresh(organization_id, event_id, is_forced=True)
        return time.perf_counter() - begun

    async def start_over() -> float:
        await admin.execute("TRUNCATE manifest, manifest_entry")
        return await refresh()

    async def change() -> float:
        await admin.execute(SCAN, event_id, device.gate_id, CHANGES)
        return await refresh()

    first_s = await _median(start_over, 3)
    unchanged_s = await _median(refresh, 5)
    changed_s = await _median(change, 3)
    _tell(
        f"{tickets}_tickets_built",
        first_ms=_ms(first_s),
        after_100_changes_ms=_ms(changed_s),
        nothing_changed_ms=_ms(unchanged_s),
        naive_ms=_ms(naive_s),
        ratio_first_to_naive=round(first_s / naive_s, 2),
        ratio_unchanged_to_naive=round(unchanged_s / naive_s, 3),
    )


async def _serve(
    services: Services,
    stage: Stage,
    admin: "asyncpg.Connection[asyncpg.Record]",
    device: Device,
    tickets: int,
    naive_s: float,
) -> None:
    """Over HTTP, from another process, for another device each time, so that each answer is signed anew."""
    manifest = await services.manifests.refresh(
        stage.caller.organization_id, UUID(stage.event_id), is_forced=True
    )
    port = free_port()
    settings = {"VOELGOED_DATABASE_URL": stage.postgres.url(), "VOELGOED_LOG_LEVEL": "error"}
    serve = ("-m", "voelgoed", "serve", "--port", str(port), "--no-jobs")

    async def devices() -> list[Device]:
        return [await _device(services, stage, device.gate_id) for _ in range(TIMES + 1)]

    path = f"/api/scanning/events/{stage.event_id}/manifest"
    with a_process(port, None, *serve, **settings) as server:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            for encoding in ENCODINGS:
                kept = await _timed(client, path, await devices(), encoding, server)
                _tell(
                    f"{tickets}_tickets_served_{encoding}",
                    p50_ms=kept.p50_ms,
                    max_ms=kept.max_ms,
                    server_cpu_ms=kept.cpu_ms,
                    bytes=kept.size,
                    document_bytes=manifest.document_bytes + 1,
                    naive_ms=_ms(naive_s),
                    ratio_to_naive=round(kept.p50_ms / 1000 / naive_s, 3),
                )
            await admin.execute(SCAN, UUID(stage.event_id), device.gate_id, CHANGES)
            await services.manifests.refresh(
                stage.caller.organization_id, UUID(stage.event_id), is_forced=True
            )
            since = f"{path}?since={manifest.version}"
            delta = await _timed(client, since, await devices(), "zstd", server)
            _tell(
                f"{tickets}_tickets_delta_of_{CHANGES}",
                p50_ms=delta.p50_ms,
                max_ms=delta.max_ms,
                server_cpu_ms=delta.cpu_ms,
                bytes=delta.size,
                ratio_of_bytes_to_full=round(delta.size / kept.size, 4),
                ratio_to_naive=round(delta.p50_ms / 1000 / naive_s, 3),
            )


class Timed(msgspec.Struct):
    p50_ms: float
    max_ms: float
    cpu_ms: float
    size: int


async def _timed(
    client: httpx.AsyncClient, path: str, devices: list[Device], encoding: str, server: int
) -> Timed:
    """Measures after the first request, which makes what the others reuse."""
    took: list[float] = []
    size = 0
    for number, device in enumerate(devices):
        if number == 1:
            cpu = cpu_seconds(server)
        begun = time.perf_counter()
        headers = device.headers | {"Accept-Encoding": encoding}
        async with client.stream("GET", path, headers=headers) as answer:
            pieces = [piece async for piece in answer.aiter_raw()]
        took.append(time.perf_counter() - begun)
        assert answer.status_code == 200, answer.status_code
        size = sum(map(len, pieces))
    await _require_verified(client, path, devices[0])
    return Timed(
        p50_ms=_ms(statistics.median(took[1:])),
        max_ms=_ms(max(took[1:])),
        cpu_ms=_ms((cpu_seconds(server) - cpu) / (len(devices) - 1)),
        size=size,
    )


async def _require_verified(client: httpx.AsyncClient, path: str, device: Device) -> None:
    answer = await client.get(path, headers=device.headers | {"Accept-Encoding": "gzip"})
    if verify(answer.content, device.api_key) is None:
        raise RuntimeError("the signature is wrong")


async def _naive(
    admin: "asyncpg.Connection[asyncpg.Record]", stage: Stage, device: Device
) -> float:
    """The naive way: read all, make JSON of it, sign it; without settings, hashes of codes, compression."""
    begun = time.perf_counter()
    rows = await admin.fetch(NAIVE, UUID(stage.event_id))
    entries = [
        {
            "ticket_id": str(row["id"]),
            "barcode_hash": "sha256:" + row["barcode_hash"].hex(),
            "zone": str(row["zone_id"]),
            "gate_ids": [str(each) for each in row["gate_ids"] or ()],
            "entry_limit": row["entry_limit"],
            "is_valid": row["is_valid"],
            "status": row["status"],
            "issue": row["issue"],
            "type": row["number"],
            "seat": row["seat_label"],
            "entries": row["scan_count"],
            "last_scanned_at": row["last_scanned_at"] and row["last_scanned_at"].isoformat(),
            "is_inside": row["is_inside"],
        }
        for row in rows
    ]
    document = json.dumps({"tickets": entries}, separators=(",", ":")).encode()
    sign(document, device.api_key)
    return time.perf_counter() - begun


async def _furnish(
    services: Services,
    stage: Stage,
    admin: "asyncpg.Connection[asyncpg.Record]",
    tickets: int,
) -> Device:
    organization_id, event_id = stage.caller.organization_id, UUID(stage.event_id)
    new = NewGate(code="north-main", name="North", status="open")
    gate = await create_gate(services.database, stage.caller, event_id, new, None)
    kind = new_id()
    await admin.execute(TYPE, organization_id, kind, event_id, [gate.id])
    await admin.execute(TICKETS, organization_id, event_id, kind, new_id(), tickets, timeout=300)
    await admin.execute("VACUUM ANALYZE ticket")
    await admin.execute("CHECKPOINT")
    return await _device(services, stage, gate.id)


async def _device(services: Services, stage: Stage, gate_id: UUID) -> Device:
    new = NewPairing(gate_id=gate_id, name="iPad")
    pairing = await create_pairing(services.database, stage.caller, new)
    given = Pair(pairing_token=pairing.pairing_token or "")
    origin = Origin("127.0.0.1", "bench")
    paired = await pair(services.database, services.master_key, origin, given)
    return Device(paired.api_key, gate_id)


async def _median(measure: Callable[[], Awaitable[float]], times: int) -> float:
    return statistics.median([await measure() for _ in range(times)])


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


def _tell(case: str, **figures: object) -> None:
    print(json.dumps({"bench": "manifests", "case": case, **figures}), flush=True)
