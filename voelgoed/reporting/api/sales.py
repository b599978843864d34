from uuid import UUID

from litestar import Response
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventNotFound
from voelgoed.infra.shapes import Data
from voelgoed.infra.web import CSV, table_file
from voelgoed.reporting.actions.sales import report_sales
from voelgoed.reporting.api.asked import desk_of
from voelgoed.reporting.forms.tables import sales_table
from voelgoed.reporting.model.about import ReportsBusy
from voelgoed.reporting.model.sales import SalesReport

REFUSALS = (EventNotFound, ReportsBusy)


@access.get("/api/events/{event_id:uuid}/reports/sales", "sales.read", *REFUSALS)
async def read_sales_report(event_id: FromPath[UUID], call: Given[Call]) -> Data[SalesReport]:
    """What was sold, given away, imported, refunded and voided: altogether, by ticket type, zone, way of
    paying and day of sale; and the money, as tickets and as payments have it."""
    return Data(await report_sales(desk_of(call), call.caller, event_id))


@access.get(
    "/api/events/{event_id:uuid}/reports/sales.csv", "sales.read", *REFUSALS, media_type=CSV
)
async def download_sales_report(event_id: FromPath[UUID], call: Given[Call]) -> Response[bytes]:
    """The same as a table: `part` says what a row is about, `name` which one."""
    report = await report_sales(desk_of(call), call.caller, event_id)
    return table_file(sales_table(report), f"sales-{event_id}.csv")


ROUTES = [read_sales_report, download_sales_report]
