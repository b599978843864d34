"""Scans of distinct valid tickets, against PostgreSQL's own limit on the same database; with little
stored, and with a million tickets and five million scans."""

import asyncio
import itertools
import json
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

import asyncpg
import msgspec
import uvloop

from bench.holds import seated_event
from bench.http import free_port
from bench.load import Load, cpu_seconds, post, run_each
from bench.pgbench import Limit, pgbench
from bench.stage import MASTER_KEY, Stage, a_process, a_stage
from voelgoed.accounts.model import Origin
from voelgoed.config import Settings
from voelgoed.events.actions.events import move_event
from voelgoed.events.actions.gates import create_gate
from voelgoed.events.model import NewGate, Transition
from voelgoed.infra.clock import Clock
from voelgoed.infra.ids import new_id
from voelgoed.infra.log import configure_logs
from voelgoed.infra.master_key import MasterKey
from voelgoed.scanning.actions.devices import create_pairing, pair
from voelgoed.scanning.model.devices import NewPairing, Pair
from voelgoed.seating.actions.views import View, see
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.actions.ticket_types import create_ticket_type
from voelgoed.ticketing.model.ticket_types import NewTicketType, Price
from voelgoed.ticketing.rules.codes import SYMBOLS, dashed

CLIENTS, PGBENCH_CLIENTS = 50, 32
GATES, DEVICES = 10, 50
PGBENCH_GATES = 50
"""This is more than there are clients, so that they do not wait for each other."""
ROUNDS = 5
SCANS = 3_000
"""Scans in a round."""
WARMING, ALONE, DUPLICATES = 500, 1_000, 3_000
PGBENCH_S = 2
BARCODE_CHARACTERS = 190
FEW, MANY = 20_000, 500_000
"""Tickets of each of the two events."""
SCANS_OF_MANY = 5
"""Past scans of each ticket, long ago."""

TICKETS = """
INSERT INTO ticket (organization_id, id, event_id, code, barcode_hash, key_number, status,
                    ticket_type_id, zone_id, seat_id, seat_label, days, zone_number, days_mask,
                    created_at, updated_at)
SELECT $1, id, $2, code, hash, 1, 'active', $3, $4, seat_id, 'A1', '{}', 1, 0, now(), now()
  FROM unnest($5::uuid[], $6::text[], $7::bytea[], $8::uuid[]) AS new (id, code, hash, seat_id)
"""
PAST = """
INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code, device_id, gate_id, direction,
                  status, scanned_at, scanned_at_canonical, day, zone_id, entry_number, gate_name,
                  device_name, source, details, gate_current, event_current, created_at)
SELECT ticket.organization_id, gen_random_uuid(), ticket.event_id, ticket.id, ticket.code, $2,
       ($3::uuid[])[1 + number % array_length($3::uuid[], 1)], 'entry', 'admitted', at, at,
       current_date, ticket.zone_id, 1, 'Gate', 'Device', 'online',
       '{"gate_capacity":500,"event_capacity":1}', 1, 1, at
  FROM ticket, generate_series(1, $4::integer) AS number,
       LATERAL (SELECT now() - interval '1 day' - number * interval '1 hour' AS at) AS moment
 WHERE ticket.event_id = $1
"""
PREPARED = """
CREATE TABLE bench_ticket (number integer PRIMARY KEY, code text);
CREATE SEQUENCE bench_ticket_next;
CREATE TABLE bench_gate (number integer PRIMARY KEY, id uuid);
GRANT SELECT ON bench_ticket, bench_gate TO voelgoed_server;
GRANT ALL ON SEQUENCE bench_ticket_next TO voelgoed_server;
"""

ONE_SCAN = """
WITH picked AS (
    SELECT bench_ticket.code, bench_gate.id AS gate_id, uuidv7() AS scan_id
      FROM bench_ticket, bench_gate
     WHERE bench_ticket.number = (SELECT nextval('bench_ticket_next') % {tickets})
       AND bench_gate.number = (SELECT floor(random() * {gates})::integer)
), admitted AS (
    UPDATE ticket SET status = 'scanned', scanned_at = now(), last_scanned_at = now(),
           last_gate_id = picked.gate_id, last_entry_day = current_date, day_entries = 1,
           is_inside = true, scan_count = scan_count + 1, updated_at = now()
      FROM picked
     WHERE ticket.code = picked.code AND ticket.event_id = '{event_id}'
       AND ticket.status IN ('active', 'scanned')
    RETURNING ticket.id, ticket.code, ticket.zone_id, picked.gate_id, picked.scan_id
), scanned AS (
    INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code, device_id, gate_id,
                      direction, status, scanned_at, scanned_at_canonical, day, zone_id,
                      entry_number, gate_name, device_name, source, details, gate_current,
                      event_current, created_at)
    SELECT current_organization(), scan_id, '{event_id}', id, code, '{device_id}', gate_id, 'entry',
           'admitted', now(), now(), current_date, zone_id, 1, 'Main Entrance', 'iPad-Gate-1',
           'online', '{{"gate_capacity":500,"event_capacity":1}}', 1, 1, now()
      FROM admitted
), counted AS (
    INSERT INTO occupancy AS held (organization_id, event_id, day, scope, scope_id, entries, exits,
                                   inside)
    SELECT current_organization(), '{event_id}', current_date, 'gate', gate_id, 1, 0, 1 FROM admitted
    ON CONFLICT (organization_id, event_id, day, scope, scope_id) DO UPDATE
       SET entries = held.entries + 1, inside = held.inside + 1
), audit AS (
    INSERT INTO audit_entry (organization_id, id, actor_kind, actor_id, action, entity_type,
                             entity_id, changes, ip, user_agent, at)
    SELECT current_organization(), uuidv7(), 'device', '{device_id}', 'ticket_scanned', 'Scan',
           scan_id::text, jsonb_build_object('ticket_id', id, 'ticket_code', code, 'gate_id', gate_id,
               'gate_name', 'Main Entrance', 'device_id', '{device_id}', 'device_name',
               'iPad-Gate-1', 'direction', 'entry', 'status', 'admitted', 'scan_count', 1),
           '127.0.0.1', 'bench', now()
      FROM admitted
)
SELECT count(*) FROM admitted
"""
"""What an admission writes, in one statement that checks the ticket's status. It
authenticates no device, verifies no barcode, knows no days, zones, limits, re-entry or capacity, and
counts at the gate alone: rows for the event and for zones, which we have too, would make its clients
wait for each other."""


@dataclass(frozen=True)
class Device:
    id: UUID
    api_key: str
    gate_id: UUID

    @property
    def headers(self) -> str:
        return f"Authorization: Bearer {self.api_key}\r\nUser-Agent: bench\r\n"


@dataclass(frozen=True)
class Hall:
    """An event that is scanned, and one that only pgbench scans."""

    devices: list[Device]
    barcodes: list[str]
    statement: str


@dataclass(frozen=True)
class Round:
    limit: Limit
    load: Load
    server_s: float
    postgres_s: float
    """Processor seconds of the server and of PostgreSQL."""

    @property
    def per_s(self) -> float:
        return self.load.requests / self.load.seconds

    @property
    def cpu_us(self) -> float:
        return (self.server_s + self.postgres_s) / self.load.requests * 1e6


@dataclass(frozen=True)
class Figures:
    per_s: float
    cpu_us: float
    """Processor microseconds of the server and PostgreSQL for one admission."""


def main() -> None:
    configure_logs("error", "json")
    few = figures("20,000_tickets", FEW)
    many = figures("1,000,000_tickets_5,000,000_scans", MANY, SCANS_OF_MANY)
    growth = round(many.cpu_us / few.cpu_us, 2)
    print(json.dumps({"bench": "scans", "case": "growth", "cpu_ratio_many_to_few": growth}))


def figures(case: str, tickets: int, past_scans: int = 0) -> Figures:
    with a_stage() as stage:
        hall = uvloop.run(_furnish(stage, tickets, past_scans))
        requests = _requests(hall)
        port = free_port()
        settings = {"VOELGOED_DATABASE_URL": stage.postgres.url(), "VOELGOED_LOG_LEVEL": "error"}
        serve = ("-m", "voelgoed", "serve", "--port", str(port), "--no-jobs")
        with a_process(port, None, *serve, **settings) as server:
            warming = itertools.islice(requests, WARMING)
            run_each(port, warming, connections=CLIENTS, wanted=b" 200 ")
            rounds = [_round(stage, server, port, hall, requests) for _ in range(ROUNDS)]
            _report(case, rounds)
            _report_lone(case, stage, port, hall, requests)
            duplicates = _duplicates(stage, server, port, hall)
        asyncio.run(_require_admitted(stage, hall))
    cpu_us = statistics.median(each.cpu_us for each in rounds)
    figures_of_round = {
        "bench": "scans",
        "case": f"{case}_duplicates",
        "cpu_us": round(duplicates),
        "ratio_to_admission": round(duplicates / cpu_us, 2),
    }
    print(json.dumps(figures_of_round))
    return Figures(statistics.median(each.per_s for each in rounds), cpu_us)


def _round(stage: Stage, server: int, port: int, hall: Hall, requests: Iterator[bytes]) -> Round:
    limit = _limit(stage, hall, PGBENCH_CLIENTS)
    before = cpu_seconds(server), cpu_seconds(stage.postmaster)
    load = run_each(port, itertools.islice(requests, SCANS), connections=CLIENTS, wanted=b" 200 ")
    after = cpu_seconds(server), cpu_seconds(stage.postmaster)
    if load.wrong or load.requests != SCANS:
        raise RuntimeError(f"{load.wrong} of {load.requests} scans failed")
    return Round(limit, load, after[0] - before[0], after[1] - before[1])


def _limit(stage: Stage, hall: Hall, clients: int) -> Limit:
    organization_id = stage.caller.organization_id
    return pgbench(stage, hall.statement, organization_id, clients=clients, seconds=PGBENCH_S)


def _report(case: str, rounds: list[Round]) -> None:
    median = statistics.median
    ratios = [each.per_s / each.limit.per_s for each in rounds]
    figures = {
        "bench": "scans",
        "case": case,
        "scans_per_s": round(median(each.per_s for each in rounds)),
        "pgbench_per_s": round(median(each.limit.per_s for each in rounds)),
        "ratio_to_pgbench": round(median(ratios), 2),
        "ratios": [round(ratio, 2) for ratio in ratios],
        "p50_ms": median(each.load.percentile_ms(50) for each in rounds),
        "p99_ms": median(each.load.percentile_ms(99) for each in rounds),
        "server_cpu_us": round(median(each.server_s for each in rounds) / SCANS * 1e6),
        "postgres_cpu_us": round(median(each.postgres_s for each in rounds) / SCANS * 1e6),
        "cpu_us": round(median(each.cpu_us for each in rounds)),
        "pgbench_postgres_cpu_us": round(median(each.limit.cpu_us for each in rounds)),
        "client_cpu_us": round(median(each.load.client_s for each in rounds) / SCANS * 1e6),
    }
    print(json.dumps(figures))


def _report_lone(case: str, stage: Stage, port: int, hall: Hall, requests: Iterator[bytes]) -> None:
    alone = _limit(stage, hall, 1)
    load = run_each(port, itertools.islice(requests, ALONE), connections=1, wanted=b" 200 ")
    p95 = load.percentile_ms(95)
    figures = {
        "bench": "scans",
        "case": f"{case}_lone",
        "p50_ms": load.percentile_ms(50),
        "p95_ms": p95,
        "pgbench_lone_ms": alone.latency_ms,
        "p95_ratio": round(p95 / alone.latency_ms, 1),
    }
    print(json.dumps(figures))


def _duplicates(stage: Stage, server: int, port: int, hall: Hall) -> float:
    """Scans tickets that were just scanned: processor microseconds for one."""
    again = _requests(hall)
    before = cpu_seconds(server) + cpu_seconds(stage.postmaster)
    load = run_each(port, itertools.islice(again, DUPLICATES), connections=CLIENTS, wanted=b" 200 ")
    if load.wrong:
        raise RuntimeError(f"{load.wrong} of {load.requests} duplicates failed")
    return (cpu_seconds(server) + cpu_seconds(stage.postmaster) - before) / DUPLICATES * 1e6


def _requests(hall: Hall) -> Iterator[bytes]:
    """Requests by one device after the other, each with an id of its own."""
    now = msgspec.json.encode(Clock().now()).decode().strip('"')
    for barcode, device in zip(hall.barcodes, itertools.cycle(hall.devices), strict=False):
        body = {
            "ticket_code": barcode,
            "device_id": device.id,
            "scanned_at": now,
            "scan_id": new_id(),
        }
        yield post("/api/scans", device.headers, msgspec.json.encode(body))


async def _furnish(stage: Stage, tickets: int, past_scans: int) -> Hall:
    services = build_services(Settings(), stage.postgres.url(), master_key=MasterKey(MASTER_KEY))
    database, caller = services.database, stage.caller
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    async with running(services, with_jobs=False):
        event_id, other_id = [await seated_event(services, stage) for _ in range(2)]
        for each in (event_id, other_id):
            await move_event(database, caller, each, Transition(to="live"))
        gates = [await a_gate(services, stage, event_id, number) for number in range(GATES)]
        others = [await a_gate(services, stage, other_id, n) for n in range(PGBENCH_GATES)]
        devices = [await a_device(services, stage, gates[n % GATES]) for n in range(DEVICES)]
        view = await see(database, services.cache, caller, event_id)
        barcodes = await tickets_of(services, stage, admin, event_id, tickets, view)
        half = await tickets_of(services, stage, admin, other_id, tickets, view)
    await _past(admin, event_id, devices[0].id, gates, past_scans)
    await _past(admin, other_id, devices[0].id, others, past_scans)
    await admin.execute(PREPARED)
    codes = [(number, dashed(barcode[3:15])) for number, barcode in enumerate(half)]
    await admin.copy_records_to_table("bench_ticket", records=codes)
    await admin.copy_records_to_table("bench_gate", records=list(enumerate(others)))
    await admin.execute("VACUUM ANALYZE")
    await admin.execute("CHECKPOINT")
    await admin.close()
    statement = ONE_SCAN.format(
        event_id=other_id, device_id=devices[0].id, gates=PGBENCH_GATES, tickets=tickets
    )
    return Hall(devices, barcodes, statement)


async def a_gate(services: Services, stage: Stage, event_id: UUID, number: int) -> UUID:
    new = NewGate(code=f"gate-{number}", name=f"Gate {number}", capacity=50_000, status="open")
    return (await create_gate(services.database, stage.caller, event_id, new, None)).id


async def a_device(services: Services, stage: Stage, gate_id: UUID) -> Device:
    new = NewPairing(gate_id=gate_id, name="iPad")
    pairing = await create_pairing(services.database, stage.caller, new)
    given = Pair(pairing_token=pairing.pairing_token or "")
    origin = Origin("127.0.0.1", "bench")
    paired = await pair(services.database, services.master_key, origin, given)
    return Device(paired.device_id, paired.api_key, gate_id)


async def tickets_of(
    services: Services,
    stage: Stage,
    admin: "asyncpg.Connection[asyncpg.Record]",
    event_id: UUID,
    count: int,
    view: View,
) -> list[str]:
    """The barcodes of the tickets, with seats as far as there are seats, then without."""
    new = NewTicketType(
        name="Standard", kind="seated", currency="ZAR", prices=[Price(amount_minor=15_000)]
    )
    kind = await create_ticket_type(
        services.database, services.cache, stage.caller, event_id, new, None
    )
    drawn = random.Random(event_id.int)
    barcodes = [
        "VG1" + "".join(drawn.choices(SYMBOLS, k=BARCODE_CHARACTERS - 3)) for _ in range(count)
    ]
    seats: Sequence[UUID | None] = [*view.plan.ids[:count], *[None] * (count - len(view.plan))]
    zone_id = view.plan.zones[0].zone_id
    for at in range(0, count, 50_000):
        some = barcodes[at : at + 50_000]
        await admin.execute(
            TICKETS,
            stage.caller.organization_id,
            event_id,
            kind.id,
            zone_id,
            [new_id() for _ in some],
            [dashed(barcode[3:15]) for barcode in some],
            [sha256(barcode.encode()).digest() for barcode in some],
            seats[at : at + 50_000],
        )
    drawn.shuffle(barcodes)
    return barcodes


async def _past(
    admin: "asyncpg.Connection[asyncpg.Record]",
    event_id: UUID,
    device_id: UUID,
    gates: list[UUID],
    each: int,
) -> None:
    if each:
        await admin.execute(PAST, event_id, device_id, gates, each, timeout=1_200)


async def _require_admitted(stage: Stage, hall: Hall) -> None:
    """An answer with 200 may be a denial, which is cheaper."""
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    counts = await admin.fetch(
        """
        SELECT coalesce(reason_denied, status) AS outcome, count(*) AS count FROM scan
         WHERE device_id = ANY($1::uuid[]) AND device_name = 'iPad' GROUP BY 1
        """,
        [device.id for device in hall.devices],
    )
    await admin.close()
    found = {row["outcome"]: row["count"] for row in counts}
    wanted = {"admitted": WARMING + ROUNDS * SCANS + ALONE, "already_scanned": DUPLICATES}
    if found != wanted:
        raise RuntimeError(f"{found} instead of {wanted}")
