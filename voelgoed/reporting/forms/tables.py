"""Reports as tables: one row for each row of each part, and what the parts add up to first."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

from voelgoed.infra.tables import cell_of, table
from voelgoed.reporting.model.attendance import AttendanceReport
from voelgoed.reporting.model.funnel import FunnelReport
from voelgoed.reporting.model.sales import SalesReport

Row = tuple[str, str, msgspec.Struct]
"""Of which part, by what name, and its figures."""

SALES = (
    *("issued", "sold", "complimentary", "imported", "refunded", "voided", "valid"),
    *("capacity", "percent_sold", "gross_minor", "refunded_minor", "net_minor", "imported_minor"),
    *("payments", "currency", "received_minor", "refund_due_minor", "kept_minor"),
)
ATTENDANCE = ("entries", "first_entries", "reentries", "exits", "denied", "inside")
FUNNEL = (
    *("held", "released", "expired", "converted"),
    *("orders_placed", "orders_paid", "orders_expired", "orders_cancelled", "orders_refunded"),
    *("conversion_percent", "abandonment_percent", "checkout_percent"),
)


def sales_table(report: SalesReport) -> bytes:
    return _table(
        SALES,
        [
            ("total", "", report.total),
            *(("ticket_type", each.name, each) for each in report.ticket_types),
            *(("zone", each.name, each) for each in report.zones),
            *(("method", f"{each.provider} {each.method}", each) for each in report.methods),
            *(("day", each.day.isoformat(), each) for each in report.days),
            *(("payment", f"{each.provider} {each.method}", each) for each in report.payments),
        ],
    )


def attendance_table(report: AttendanceReport) -> bytes:
    timezone = ZoneInfo(report.timezone)
    return _table(
        ATTENDANCE,
        [
            ("total", "", report.total),
            *(("day", each.day.isoformat(), each) for each in report.days),
            *(("gate", each.name, each) for each in report.gates),
            *(("zone", each.name, each) for each in report.zones),
            *(("reason", each.reason, each) for each in report.reasons),
            *(("bucket", _there(each.since, timezone), each) for each in report.buckets),
        ],
    )


def funnel_table(report: FunnelReport) -> bytes:
    timezone = ZoneInfo(report.timezone)
    buckets = (("bucket", _there(each.since, timezone), each) for each in report.buckets)
    return _table(FUNNEL, [("total", "", report.total), *buckets])


def _there(moment: datetime, timezone: ZoneInfo) -> str:
    """As clocks at the venue had it."""
    return moment.astimezone(timezone).isoformat()


def _table(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    """A cell is empty where a part has no such figure."""
    told = (
        [part, name, *(cell_of(getattr(figures, column, None)) for column in columns)]
        for part, name, figures in rows
    )
    return table([("part", "name", *columns), *told]).encode()
