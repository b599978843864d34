import re
from typing import Annotated, Any
from uuid import UUID

from litestar import Request
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, FromQuery, QueryParameter
from litestar.response import Stream

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.events.model import EventFrozen, EventNotFound
from voelgoed.infra.idempotency import IdempotencyKeyReused
from voelgoed.infra.master_key import MasterKeyMissing
from voelgoed.infra.shapes import Data, Page
from voelgoed.infra.web import (
    CSV,
    IdempotencyKey,
    Limit,
    UnsupportedMediaType,
    page,
    stream_body,
    table_stream,
)
from voelgoed.ticketing.actions import imports as actions
from voelgoed.ticketing.actions.exports import faults_table
from voelgoed.ticketing.actions.imports import Upload
from voelgoed.ticketing.model.imports import (
    FILE_BYTES_MAX,
    ImportFault,
    InvalidTicketFile,
    TicketImport,
    TicketImportNotFound,
    TooManyImports,
)

UPLOAD = re.compile(r"/api/events/[^/]{1,100}/ticket-imports/?")
UPLOAD_S = 300.0
"""For all of it to arrive."""

FileName = Annotated[
    str,
    QueryParameter(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f]+$",
        description="Shown to people; it decides nothing.",
    ),
]


@access.upload(
    "/api/events/{event_id:uuid}/ticket-imports",
    "tickets.import",
    EventNotFound,
    EventFrozen,
    InvalidTicketFile,
    TooManyImports,
    MasterKeyMissing,
    IdempotencyKeyReused,
    body_bytes_max=FILE_BYTES_MAX,
)
async def import_tickets(
    event_id: FromPath[UUID],
    request: Request[Any, Any, Any],
    call: Given[Call],
    dry_run: FromQuery[bool] = False,
    file_name: FileName = "tickets.csv",
    idempotency_key: IdempotencyKey = None,
) -> Data[TicketImport]:
    """Tickets sold elsewhere, as CSV in UTF-8 with a header: `type` (name or id of a ticket type),
    `zone` and `seat` (where it is), and optionally `code`, `name`, `email`, `days`, `reference` (their
    order number), `price_minor`. Lines with faults are skipped and reported; a file can be imported
    again, and what is there already stays as it is. The answer comes at once: look at the import
    to see how far it is."""
    if request.content_type[0] != CSV:
        raise UnsupportedMediaType("Send the file as text/csv.")
    if not dry_run and call.master_key.is_missing:
        raise MasterKeyMissing()
    announced = request.headers.get("content-length")
    pieces = stream_body(request.receive, FILE_BYTES_MAX, announced)  # pyright: ignore[reportArgumentType]
    upload = Upload(event_id=event_id, file_name=file_name, dry_run=dry_run, key=idempotency_key)
    return Data(await actions.receive_file(call.database, call.caller, upload, pieces))


@access.get("/api/events/{event_id:uuid}/ticket-imports", "tickets.import", EventNotFound)
async def list_ticket_imports(
    event_id: FromPath[UUID],
    call: Given[Call],
    after: FromQuery[UUID | None] = None,
    limit: Limit = 50,
) -> Page[TicketImport]:
    """The newest first."""
    found = await actions.list_imports(call.database, call.caller, event_id, after, limit + 1)
    return page(found, limit, lambda each: each.id)


@access.get("/api/ticket-imports/{import_id:uuid}", "tickets.import", TicketImportNotFound)
async def read_ticket_import(import_id: FromPath[UUID], call: Given[Call]) -> Data[TicketImport]:
    """What has become of it, and how far it is: `rows_read` of `rows_total`."""
    return Data(await actions.read_import(call.database, call.caller, import_id))


@access.get("/api/ticket-imports/{import_id:uuid}/faults", "tickets.import", TicketImportNotFound)
async def list_ticket_import_faults(
    import_id: FromPath[UUID],
    call: Given[Call],
    after: Annotated[int, QueryParameter(ge=0, le=2_147_483_647)] = 0,
    limit: Limit = 50,
) -> Page[ImportFault]:
    """In the order of the file. A line may have several."""
    found = await actions.list_faults(call.database, call.caller, import_id, after, limit + 1)
    of_page = page(found, limit, lambda each: each.number)
    return Page([each.fault for each in of_page.data], of_page.next)


@access.get(
    "/api/ticket-imports/{import_id:uuid}/faults.csv",
    "tickets.import",
    TicketImportNotFound,
    media_type=CSV,
)
async def download_ticket_import_faults(import_id: FromPath[UUID], call: Given[Call]) -> Stream:
    """All of them, to be put beside the file."""
    imported = await actions.read_import(call.database, call.caller, import_id)
    return table_stream(faults_table(call.database, call.caller, imported.id), "faults.csv")


ROUTES = [
    import_tickets,
    list_ticket_imports,
    read_ticket_import,
    list_ticket_import_faults,
    download_ticket_import_faults,
]
