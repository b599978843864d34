"""Each report of an event with 50,000 tickets and 300,000 scans, against a bare count of those rows."""

import json
import statistics
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

import asyncpg
import uvloop

from bench.stage import Stage, a_stage
from voelgoed.config import Settings
from voelgoed.infra.log import configure_logs
from voelgoed.reporting.actions.attendance import report_attendance
from voelgoed.reporting.actions.no_shows import no_shows_table, report_no_shows
from voelgoed.reporting.actions.sales import report_sales
from voelgoed.services import Services, build_services, running
from voelgoed.ticketing.actions.ticket_types import create_ticket_type
from voelgoed.ticketing.model.ticket_types import NewTicketType, Price

TICKETS, SCANS = 50_000, 300_000
TICKETS_OF_AN_ORDER = 2
NO_SHOWS_OF_TEN = 1
GATES, ZONES = 10, 20
ROUNDS = 5

ORDERS = """
WITH sale AS (
    INSERT INTO ticket_order (organization_id, id, number, event_id, buyer_name, status, currency,
                              total_minor, secret, held_until, created_at, updated_at)
    SELECT $1, gen_random_uuid(), 'VG-' || number, $2, 'Anna', 'paid', 'ZAR', 30000, 'secret', now(),
           at, at
      FROM generate_series(1, $3::integer) AS number,
           LATERAL (SELECT now() - number * interval '4 minutes' AS at) AS moment
    RETURNING id, created_at
)
INSERT INTO payment (organization_id, id, order_id, provider, method, status, amount_minor, currency,
                     created_at, updated_at)
SELECT $1, gen_random_uuid(), id, 'manual', 'cash', 'succeeded', 30000, 'ZAR', created_at, created_at
  FROM sale
"""
TICKET = """
INSERT INTO ticket (organization_id, id, event_id, code, barcode_hash, key_number, status,
                    ticket_type_id, order_id, order_line, zone_id, days, zone_number, days_mask,
                    price_minor, scan_count, created_at, updated_at)
SELECT $1, gen_random_uuid(), $2, translate(to_char(row_number() OVER (), 'FM0000,0000,0000'), ',', '-'),
       '', 1, 'active', $3, sale.id, line,
       ('00000000-0000-0000-0000-' || to_char(abs(hashtext(sale.id::text)) % $4, 'FM000000000000'))::uuid,
       '{}', 1, 0, 15000, (random() * 10 >= $5)::integer, sale.created_at, sale.created_at
  FROM ticket_order AS sale, generate_series(1, $6::integer) AS line WHERE sale.event_id = $2
"""
SCAN = """
INSERT INTO scan (organization_id, id, event_id, ticket_id, ticket_code, device_id, gate_id, direction,
                  status, reason_denied, scanned_at, scanned_at_canonical, day, zone_id, gate_name,
                  device_name, source, details, created_at)
SELECT $1, gen_random_uuid(), $2, ticket.id, ticket.code, $2,
       ('00000000-0000-0000-0001-' || to_char(number % $3, 'FM000000000000'))::uuid,
       CASE number % 3 WHEN 1 THEN 'exit' ELSE 'entry' END,
       CASE number % 3 WHEN 2 THEN 'denied' ELSE 'admitted' END,
       CASE number % 3 WHEN 2 THEN 'already_scanned' END, at, at,
       CASE number % 3 WHEN 2 THEN NULL ELSE current_date END, ticket.zone_id, 'Gate', 'Device',
       'online', '{}', at
  FROM (SELECT * FROM ticket WHERE event_id = $2 AND scan_count > 0) AS ticket,
       generate_series(0, $4::integer - 1) AS number,
       LATERAL (SELECT now() + (hashtext(ticket.code || number) & 16383) * interval '1 second' AS at) AS moment
"""
RULED = """
INSERT INTO scan_ruling (organization_id, scan_id, number, event_id, is_let_in, status, reason_denied,
                         day, at)
SELECT organization_id, id, 1, event_id, true, 'denied', 'already_scanned', current_date, now()
  FROM scan WHERE event_id = $1 AND status = 'admitted' AND random() < 0.02
"""
BARE = "SELECT count(*), max(gate_name) FROM scan WHERE event_id = $1"


def main() -> None:
    configure_logs("error", "json")
    with a_stage() as stage:
        uvloop.run(_main(stage))


async def _main(stage: Stage) -> None:
    services = build_services(Settings(), stage.postgres.url())
    admin = await asyncpg.connect(stage.postgres.url("postgres"))
    event_id = UUID(stage.event_id)
    async with running(services, with_jobs=False):
        await _furnish(services, stage, admin, event_id)
        bare_s = await _seconds(lambda: admin.fetchrow(BARE, event_id))
        desk, caller = services.reports, stage.caller

        async def all_no_shows() -> None:
            async for _ in await no_shows_table(desk, caller, event_id):
                pass

        for name, work in {
            "sales": lambda: report_sales(desk, caller, event_id),
            "attendance_by_15_minutes": lambda: report_attendance(
                desk, caller, event_id, None, None, 15
            ),
            "attendance_by_minute": lambda: report_attendance(
                desk, caller, event_id, None, None, 1
            ),
            "no_shows": lambda: report_no_shows(desk, caller, event_id),
            "no_shows_table": all_no_shows,
        }.items():
            seconds = await _seconds(work)
            figures = {
                "seconds": round(seconds, 2),
                "ratio_to_bare_count": round(seconds / bare_s, 1),
            }
            print(json.dumps({"bench": "reports", "case": name, **figures}))
    await admin.close()


async def _furnish(
    services: Services, stage: Stage, admin: asyncpg.Connection, event_id: UUID
) -> None:
    new = NewTicketType(
        name="Resolution", kind="ga", currency="ZAR", prices=[Price(amount_minor=15_000)]
    )
    ticket_type = await create_ticket_type(
        services.database, services.cache, stage.caller, event_id, new, None
    )
    organization_id = stage.caller.organization_id
    await admin.execute(ORDERS, organization_id, event_id, TICKETS // TICKETS_OF_AN_ORDER)
    await admin.execute(
        TICKET,
        organization_id,
        event_id,
        ticket_type.id,
        ZONES,
        NO_SHOWS_OF_TEN,
        TICKETS_OF_AN_ORDER,
    )
    scans_each = round(SCANS / TICKETS * 10 / (10 - NO_SHOWS_OF_TEN))
    await admin.execute(SCAN, organization_id, event_id, GATES, scans_each)
    await admin.execute(RULED, event_id)
    await admin.execute("VACUUM ANALYZE")
    rows = await admin.fetchrow("SELECT count(*) FROM scan")
    assert rows is not None
    assert rows[0] >= SCANS, rows


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    """The middle one of a few."""
    taken: list[float] = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)
