from typing import Annotated
from uuid import UUID

from litestar import Response
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import CSV, table_file
from voelgoed.reporting.actions.attendance import report_attendance
from voelgoed.reporting.api.asked import BUCKET, Since, Until, desk_of
from voelgoed.reporting.forms.tables import attendance_table
from voelgoed.reporting.model.about import (
    BucketMinutes,
    EmptySpan,
    ReportsBusy,
    TooManyBuckets,
)
from voelgoed.reporting.model.attendance import AttendanceReport

REFUSALS = (EventNotFound, EmptySpan, TooManyBuckets, ReportsBusy)


@access.get("/api/events/{event_id:uuid}/reports/attendance", "admissions.read", *REFUSALS)
async def read_attendance_report(
    event_id: FromPath[UUID],
    call: Given[Call],
    since: Since = None,
    until: Until = None,
    bucket_minutes: Annotated[BucketMinutes, BUCKET] = 15,
) -> Data[AttendanceReport]:
    """Who came in and left, was denied and is inside: altogether, by day, gate, zone and time. Of all
    that was scanned, or of a span of time; who is inside is told of its end. Only scans that stand
    count: what supervisors annulled, or later news overruled, does not."""
    desk, caller = desk_of(call), call.caller
    return Data(await report_attendance(desk, caller, event_id, since, until, bucket_minutes))


@access.get(
    "/api/events/{event_id:uuid}/reports/attendance.csv",
    "admissions.read",
    *REFUSALS,
    media_type=CSV,
)
async def download_attendance_report(
    event_id: FromPath[UUID],
    call: Given[Call],
    since: Since = None,
    until: Until = None,
    bucket_minutes: Annotated[BucketMinutes, BUCKET] = 15,
) -> Response[bytes]:
    """The same as a table: `part` says what a row is about, `name` which one."""
    desk, caller = desk_of(call), call.caller
    report = await report_attendance(desk, caller, event_id, since, until, bucket_minutes)
    return table_file(attendance_table(report), f"attendance-{event_id}.csv")


ROUTES = [read_attendance_report, download_attendance_report]
