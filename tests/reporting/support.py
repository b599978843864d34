"""Reports as whoever asks sees them, and what must hold in every one of them."""

import csv
from collections.abc import Iterable
from io import StringIO
from typing import Any
from uuid import UUID

import httpx

from tests.accounts.test_permissions import a_token
from tests.scanning.support import World
from tests.support import SOON, MovableClock, Tenant
from tests.ticketing.sales_support import Sales
from voelgoed.accounts.model import Role
from voelgoed.reporting.actions.sales import report_sales
from voelgoed.reporting.forms.tables import ATTENDANCE, FUNNEL, SALES
from voelgoed.reporting.model.attendance import AttendanceReport
from voelgoed.reporting.model.no_shows import NoShowReport
from voelgoed.reporting.model.sales import SalesReport

COLUMNS = {"sales": SALES, "attendance": ATTENDANCE, "funnel": FUNNEL}
TICKETS = ("sold", "complimentary", "imported", "refunded", "voided", "valid", "issued")
MONEY = ("gross_minor", "refunded_minor", "net_minor", "imported_minor")


def at_the_event(world: World, clock: MovableClock) -> None:
    """It begins now, which is years from now: see `log_in_again`."""
    clock.ahead = SOON - (world.now - clock.ahead)


async def log_in_again(world: World) -> None:
    for role in world.tenant.tokens:
        world.tenant.tokens[role] = await a_token(world.services, world.tenant, role)


async def report(
    client: httpx.AsyncClient,
    tenant: Tenant,
    event_id: UUID | str,
    name: str,
    by: Role = "organiser",
    **params: Any,
) -> dict[str, Any]:
    path = f"/api/events/{event_id}/reports/{name}"
    answer = await client.get(path, params=params, headers=tenant.as_(by))
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def table(
    client: httpx.AsyncClient,
    tenant: Tenant,
    event_id: UUID | str,
    name: str,
    by: Role = "organiser",
    **params: Any,
) -> list[dict[str, str]]:
    path = f"/api/events/{event_id}/reports/{name}.csv"
    answer = await client.get(path, params=params, headers=tenant.as_(by))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == (
        f'attachment; filename="{name}-{event_id}.csv"'
    )
    rows = csv.DictReader(StringIO(answer.text, newline=""))
    if name in COLUMNS:
        assert rows.fieldnames == ["part", "name", *COLUMNS[name]]
    return list(rows)


def require_sums(total: Any, parts: Iterable[Any], fields: Iterable[str]) -> None:
    parts = list(parts)
    for field in fields:
        told = [getattr(part, field) for part in parts]
        assert sum(told) == getattr(total, field), (field, told)


def require_sales_add_up(found: SalesReport) -> None:
    total = found.total
    assert total.issued == total.valid + total.refunded + total.voided
    assert total.valid == total.sold + total.complimentary + total.imported
    assert total.net_minor == total.gross_minor - total.refunded_minor
    for parts in (found.ticket_types, found.zones, found.methods, found.days):
        require_sums(total, parts, (*TICKETS, *MONEY))
    kept = [each.kept_minor for each in found.payments]
    assert sum(kept) == total.net_minor, "what tickets earned is what payments keep"
    counts = found.orders
    others = [getattr(counts, name) for name in counts.__struct_fields__ if name != "placed"]
    assert sum(others) == counts.placed


def require_attendance_adds_up(found: AttendanceReport) -> None:
    total, passed = found.total, ("entries", "first_entries", "reentries", "exits")
    assert total.entries == total.first_entries + total.reentries
    require_sums(total, found.gates, (*passed, "denied", "inside"))
    require_sums(total, found.zones, (*passed, "denied", "inside"))
    require_sums(total, found.days, (*passed, "inside"))
    require_sums(total, found.buckets, (*passed, "denied"))
    require_sums(total, found.reasons, ("denied",))
    begins = [each.since for each in found.buckets]
    assert begins == sorted(set(begins))


def require_no_shows_add_up(found: NoShowReport) -> None:
    fields = ("valid", "came", "no_shows")
    for each in (found.total, *found.ticket_types, *found.zones, *found.days):
        assert each.valid == each.came + each.no_shows
        assert min(each.valid, each.came, each.no_shows) >= 0
    require_sums(found.total, found.ticket_types, fields)
    require_sums(found.total, found.zones, fields)


async def sales_report(sold: Sales) -> SalesReport:
    reports, event_id = sold.services.reports, sold.stage.event_id
    return await report_sales(reports, sold.tenant.caller("box_office"), event_id)
