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
from voelgoed.reporting.actions.funnel import report_funnel
from voelgoed.reporting.api.asked import BUCKET, Since, Until, desk_of
from voelgoed.reporting.forms.tables import funnel_table
from voelgoed.reporting.model.about import (
    BucketMinutes,
    EmptySpan,
    ReportsBusy,
    TooManyBuckets,
)
from voelgoed.reporting.model.funnel import FunnelReport

REFUSALS = (EventNotFound, EmptySpan, TooManyBuckets, ReportsBusy)


@access.get("/api/events/{event_id:uuid}/reports/funnel", "sales.read", *REFUSALS)
async def read_funnel_report(
    event_id: FromPath[UUID],
    call: Given[Call],
    since: Since = None,
    until: Until = None,
    bucket_minutes: Annotated[BucketMinutes, BUCKET] = 60,
) -> Data[FunnelReport]:
    """How many of the seats that were held were bought, and when: from what was recorded as it
    happened."""
    desk, caller = desk_of(call), call.caller
    return Data(await report_funnel(desk, caller, event_id, since, until, bucket_minutes))


@access.get(
    "/api/events/{event_id:uuid}/reports/funnel.csv", "sales.read", *REFUSALS, media_type=CSV
)
async def download_funnel_report(
    event_id: FromPath[UUID],
    call: Given[Call],
    since: Since = None,
    until: Until = None,
    bucket_minutes: Annotated[BucketMinutes, BUCKET] = 60,
) -> Response[bytes]:
    """The same as a table: `part` says what a row is about, `name` which one."""
    desk, caller = desk_of(call), call.caller
    report = await report_funnel(desk, caller, event_id, since, until, bucket_minutes)
    return table_file(funnel_table(report), f"funnel-{event_id}.csv")


ROUTES = [read_funnel_report, download_funnel_report]
