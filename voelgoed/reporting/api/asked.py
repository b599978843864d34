"""What reports can be asked for, and how their tables are given."""

from typing import Annotated

from litestar.params import QueryParameter

from voelgoed.accounts.access import Call
from voelgoed.infra.shapes import Moment
from voelgoed.reporting.actions.desk import ReportDesk

Since = Annotated[Moment | None, QueryParameter(description="From this moment on.")]
Until = Annotated[Moment | None, QueryParameter(description="Before this moment.")]
BUCKET = QueryParameter(description="How long a bucket is, in minutes.")


def desk_of(call: Call) -> ReportDesk:
    return call.parts.reports
