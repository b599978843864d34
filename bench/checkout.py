"""Orders of four seats, paid by hand, against PostgreSQL's own limit on the same database."""

import asyncio
import itertools
import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import msgspec
import uvloop

from bench.holds import seated_event
from bench.http import free_port
from bench.load import Load, cpu_seconds, post, run_each
from bench.pgbench import Limit, pgbench
from bench.stage import MASTER_KEY, Stage, a_process, a_stage
from voelgoed.config import Settings
from voelgoed.infra.log import configure_logs
from voelgoed.infra.master_key import MasterKey
from voelgoed.seating.actions.views import View, see
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.actions.ticket_types import create_ticket_type
from voelgoed.ticketing.model.ticket_types import NewTicketType, Price

CLIENTS = 50
FEW_CLIENTS = 3
"""All sales of a type count in one row; PostgreSQL is fastest when few want it at once."""
ROUNDS = 3
ORDERS = 1_500
"""In a round."""
SEATS = 4
"""In an order."""
PGBENCH_S = 2

HELD = """
WITH wanted AS (
    SELECT seat_id, position, uuidv7() AS hold_id
      FROM unnest($1::uuid[], $2::integer[]) AS new (seat_id, position)
), seat AS (
    INSERT INTO seat_state (organization_id, event_id, seat_id, position, status, held_until,
                            locked_at, seat_hold_id, holder_id, version, updated_at)
    SELECT $3, $4, seat_id, position, 'held', now() + interval '1 hour', now(), hold_id, $5, 1, now()
      FROM wanted
)
INSERT INTO seat_hold (organization_id, id, event_id, booking_id, user_id, seat_id, zone_id, places,
                       status, held_until, source, is_judged, created_at, updated_at)
SELECT $3, hold_id, $4, uuidv7(), $5, seat_id, $6, 1, 'active', now() + interval '1 hour', 'web',
       true, now(), now()
  FROM wanted RETURNING id, seat_id
"""
"""Seats held beforehand, all at once."""

PREPARED = """
CREATE TABLE bench_sale (id integer PRIMARY KEY, hold_ids uuid[], seat_ids uuid[]);
CREATE SEQUENCE bench_sale_next;
GRANT SELECT ON bench_sale TO voelgoed_server;
GRANT ALL ON SEQUENCE bench_sale_next TO voelgoed_server;
"""

ONE_SALE = """
WITH picked AS (
    SELECT hold_ids, seat_ids, uuidv7() AS order_id, uuidv7() AS payment_id
      FROM bench_sale WHERE id = (SELECT nextval('bench_sale_next'))
), converted AS (
    UPDATE seat_hold SET status = 'converted', updated_at = now()
     WHERE id = ANY(ARRAY(SELECT unnest(hold_ids) FROM picked)) AND status = 'active'
       AND held_until > now()
    RETURNING id, seat_id, zone_id, held_until, user_id
), sold AS (
    UPDATE seat_state SET status = 'sold', held_until = NULL, locked_at = NULL,
           version = version + 1, updated_at = now()
     WHERE event_id = '{event_id}' AND seat_id = ANY(ARRAY(SELECT unnest(seat_ids) FROM picked))
       AND status = 'held' AND held_until > now()
    RETURNING seat_id
), new_order AS (
    INSERT INTO ticket_order (organization_id, id, number, event_id, sold_by_id, buyer_name, status,
                              currency, total_minor, secret, held_until, created_at, updated_at)
    SELECT current_organization(), order_id, order_id::text, '{event_id}', '{user_id}',
           'Anna Botha', 'paid', 'ZAR', 60000, md5(order_id::text), now(), now(), now() FROM picked
), lines AS (
    INSERT INTO order_line (organization_id, order_id, line, hold_id, ticket_type_id, zone_id,
                            seat_id, seat_label, days, holder_name, price_minor)
    SELECT current_organization(), order_id, row_number() OVER (), id, '{type_id}', zone_id, seat_id,
           'A1', ARRAY[current_date], '', 15000 FROM picked, converted
), paid AS (
    INSERT INTO payment (organization_id, id, order_id, provider, method, status, amount_minor,
                         currency, actor_id, created_at, updated_at)
    SELECT current_organization(), payment_id, order_id, 'manual', 'cash', 'succeeded', 60000, 'ZAR',
           '{user_id}', now(), now() FROM picked
), tickets AS (
    INSERT INTO ticket (organization_id, id, event_id, code, barcode_hash, key_number, status,
                        ticket_type_id, order_id, order_line, hold_id, zone_id, seat_id, seat_label,
                        days, zone_number, days_mask, holder_name, price_minor, created_at,
                        updated_at)
    SELECT current_organization(), uuidv7(), '{event_id}',
           upper(overlay(overlay(substr(md5(id::text), 1, 14) placing '-' from 5 for 1)
                         placing '-' from 10 for 1)),
           sha256(id::text::bytea), 1, 'active', '{type_id}', order_id, row_number() OVER (), id,
           zone_id, seat_id, 'A1', ARRAY[current_date], 1, 1, 'Anna Botha', 15000, now(), now()
      FROM picked, converted
), counted AS (
    UPDATE ticket_type SET taken = taken + {seats} WHERE id = '{type_id}'
), happened AS (
    INSERT INTO domain_event (organization_id, id, name, event_id, subject_id, payload, at)
    SELECT current_organization(), uuidv7(), 'SeatHoldConverted', '{event_id}'::uuid, id,
           jsonb_build_object('hold_id', id, 'seat_id', seat_id, 'zone_id', zone_id, 'places', 1,
               'event_id', '{event_id}', 'user_id', user_id, 'organization_id',
               current_organization(), 'held_until', held_until, 'timestamp', now()), now()
      FROM converted
     UNION ALL
    SELECT current_organization(), uuidv7(), name, '{event_id}'::uuid, order_id,
           jsonb_build_object('order_id', order_id, 'number', order_id, 'tickets', {seats},
               'total_minor', 60000, 'currency', 'ZAR'), now()
      FROM picked, unnest(ARRAY['OrderPlaced', 'OrderPaid']) AS name
), audit AS (
    INSERT INTO audit_entry (organization_id, id, actor_kind, actor_id, action, entity_type,
                             entity_id, changes, ip, user_agent, at)
    SELECT current_organization(), uuidv7(), 'user', '{user_id}', action, 'Order', order_id::text,
           jsonb_build_object('number', order_id, 'total_minor', 60000, 'tickets', {seats}),
           '127.0.0.1', 'bench', now()
      FROM picked, unnest(ARRAY['order_placed', 'payment_taken', 'order_paid']) AS action
)
SELECT count(*) FROM sold
"""
"""What a sale writes, in one statement. It authenticates nobody, prices nothing and signs nothing."""


@dataclass(frozen=True)
class Round:
    limit: Limit
    few: Limit
    load: Load
    server_s: float
    postgres_s: float
    """Of their processors."""

    @property
    def per_s(self) -> float:
        return self.load.requests / self.load.seconds


def main() -> None:
    configure_logs("error", "json")
    with a_stage() as stage:
        requests, statement = uvloop.run(_furnish(stage))
        port = free_port()
        settings = {"VOELGOED_DATABASE_URL": stage.postgres.url(), "VOELGOED_LOG_LEVEL": "error"}
        serve = ("-m", "voelgoed", "serve", "--port", str(port), "--no-jobs")
        with a_process(port, None, *serve, **settings) as server:
            run_each(port, itertools.islice(requests, 300), connections=CLIENTS)  # warm
            rounds = [_round(stage, server, port, statement, requests) for _ in range(ROUNDS)]
            lone = run_each(port, itertools.islice(requests, 300), connections=1)
        asyncio.run(_require_enough(stage))
    _report(rounds)
    print(
        json.dumps({"bench": "checkout", "case": "lone_client", "p95_ms": lone.percentile_ms(95)})
    )


def _round(
    stage: Stage, server: int, port: int, statement: str, requests: Iterator[bytes]
) -> Round:
    limit, few = [
        pgbench(stage, statement, stage.caller.organization_id, clients=clients, seconds=PGBENCH_S)
        for clients in (CLIENTS, FEW_CLIENTS)
    ]
    before = cpu_seconds(server), cpu_seconds(stage.postmaster)
    load = run_each(port, itertools.islice(requests, ORDERS), connections=CLIENTS)
    after = cpu_seconds(server), cpu_seconds(stage.postmaster)
    if load.wrong or load.requests != ORDERS:
        raise RuntimeError(f"{load.wrong} of {load.requests} orders were refused")
    return Round(limit, few, load, after[0] - before[0], after[1] - before[1])


def _report(rounds: list[Round]) -> None:
    median = statistics.median
    ratios = [each.per_s / each.limit.per_s for each in rounds]
    few = [each.per_s / each.few.per_s for each in rounds]
    orders = rounds[0].load.requests
    figures = {
        "bench": "checkout",
        "case": "four_seats_50_clients",
        "orders_per_s": round(median(each.per_s for each in rounds)),
        "pgbench_per_s": round(median(each.limit.per_s for each in rounds)),
        "ratio_to_pgbench": round(median(ratios), 2),
        "ratios": [round(ratio, 2) for ratio in ratios],
        f"pgbench_{FEW_CLIENTS}_clients_per_s": round(median(each.few.per_s for each in rounds)),
        f"ratio_to_pgbench_{FEW_CLIENTS}_clients": round(median(few), 2),
        "p50_ms": median(each.load.percentile_ms(50) for each in rounds),
        "p95_ms": median(each.load.percentile_ms(95) for each in rounds),
        "server_cpu_us": round(median(each.server_s for each in rounds) / orders * 1e6),
        "postgres_cpu_us": round(median(each.postgres_s for each in rounds) / orders * 1e6),
        "pgbench_postgres_cpu_us": round(median(each.limit.cpu_us for each in rounds)),
    }
    print(json.dumps(figures))


async def _furnish(stage: Stage) -> tuple[Iterator[bytes], str]:
    services = build_services(Settings(), stage.postgres.url(), master_key=MasterKey(MASTER_KEY))
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    async with running(services, with_jobs=False):
        event_id, other_id = [await seated_event(services, stage) for _ in range(2)]
        type_id, other_type_id = [
            await _ticket_type(services, stage, each) for each in (event_id, other_id)
        ]
        view = await see(services.database, services.cache, stage.caller, event_id)
        holds = await hold_seats(admin, stage, event_id, view)
        others = await hold_seats(admin, stage, other_id, view)
    await admin.execute(PREPARED)
    together = zip(*[iter(others)] * SEATS, strict=False)
    sales = [
        (number, [hold for hold, _ in four], [seat for _, seat in four])
        for number, four in enumerate(together, start=1)
    ]
    await admin.copy_records_to_table("bench_sale", records=sales)
    await admin.execute("ANALYZE")
    await admin.close()
    statement = ONE_SALE.format(
        event_id=other_id, type_id=other_type_id, user_id=stage.caller.id, seats=SEATS
    )
    return _requests(stage, [hold for hold, _ in holds], type_id), statement


async def _ticket_type(services: Services, stage: Stage, event_id: UUID) -> UUID:
    new = NewTicketType(
        name="Standard", kind="seated", currency="ZAR", prices=[Price(amount_minor=15_000)]
    )
    made = await create_ticket_type(
        services.database, services.cache, stage.caller, event_id, new, None
    )
    return made.id


async def hold_seats(
    admin: "asyncpg.Connection[asyncpg.Record]",
    stage: Stage,
    event_id: UUID,
    view: View,
    count: int | None = None,
) -> list[tuple[UUID, UUID]]:
    """So many, or every seat of the stadium. For an event that only pgbench sells any will do."""
    caller, zone_id = stage.caller, view.plan.zones[0].zone_id
    ids = view.plan.ids[:count]
    rows = await admin.fetch(
        HELD,
        ids,
        list(range(len(ids))),
        caller.organization_id,
        event_id,
        caller.id,
        zone_id,
    )
    return [(row["id"], row["seat_id"]) for row in rows]


def _requests(stage: Stage, holds: list[UUID], type_id: UUID) -> Iterator[bytes]:
    headers = f"Authorization: Bearer {stage.token}\r\nUser-Agent: bench\r\n"
    for at in range(0, len(holds) - SEATS, SEATS):
        items = [
            {"hold_id": hold_id, "ticket_type_id": type_id} for hold_id in holds[at : at + SEATS]
        ]
        payment = {"provider": "manual", "method": "cash"}
        body = {"items": items, "buyer_name": "Anna Botha", "payment": payment}
        yield post("/api/orders", headers, msgspec.json.encode(body))


async def _require_enough(stage: Stage) -> None:
    """Or pgbench would have sold nothing, very fast, in the end."""
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    asked = await admin.fetchval("SELECT last_value FROM bench_sale_next")
    prepared = await admin.fetchval("SELECT count(*) FROM bench_sale")
    await admin.close()
    if asked > prepared:
        raise RuntimeError(f"pgbench wanted {asked} sales of {prepared}")
